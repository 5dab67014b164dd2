import { callForBytes } from '../../api/call.ts'
import type { ObjectVersion } from './object-types.ts'

/** Saves a version as a file. */
export async function download({ bucket, key, version_id }: ObjectVersion): Promise<void> {
  const bytes = await callForBytes('GET /buckets/{bucket}/object-content/{key}', {
    path: { bucket, key },
    query: { version_id },
  })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(bytes)
  link.download = key.split('/').at(-1) || 'object'
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
