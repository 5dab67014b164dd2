import { call } from '../../api/call.ts'
import type { ObjectVersion } from './object-types.ts'

/** Saves a version as a file. The browser downloads it with a ticket, so that it is not held in memory. */
export async function download({ bucket, key, version_id }: ObjectVersion): Promise<void> {
  const sent = { path: { bucket, key }, query: { version_id } }
  const { path } = await call('POST /buckets/{bucket}/object-download/{key}', sent)
  const link = document.createElement('a')
  link.href = new URL(path.slice(1), document.baseURI).href
  // With it, an invalid ticket ends in a failed download instead of another page.
  link.download = ''
  link.click()
}
