import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { RecordIndex } from '../../../../projections/record-index/record-index.ts'
import type { Found } from './finding.ts'
import type { JournalEnd } from './journal-checks.ts'

/** How far the record index reaches. A record that it lacks is only slower to find, so an index that lags is no warning. */
export function recordIndex(paths: StorePaths, { result }: JournalEnd): Found {
  if (result === undefined) return { status: 'skipped', detail: 'the store was not created yet' }
  const { records, files, bytes } = new RecordIndex(nodeDisk, paths).facts
  return `${records} of ${result.nextSequence} records are in ${files} files of ${bytes} bytes`
}
