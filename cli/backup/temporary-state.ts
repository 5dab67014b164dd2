import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { cutAt } from './cut-disk.ts'
import type { ExistingBackup } from './checked-backup.ts'
import { PayloadState } from './payload-state.ts'

/**
 * Works with the state of a backup at a record, derived from its journal in a temporary directory, which is removed.
 * @throws JournalDamagedError
 */
export async function withBackupState<T>(
  disk: Disk,
  { disk: source, backup, last }: ExistingBackup,
  until: Sequence,
  progress: (text: string) => void,
  work: (state: PayloadState) => Promise<T> | T,
): Promise<T> {
  const directory = join(tmpdir(), `object-store-backup-${randomBytes(8).toString('hex')}`)
  try {
    const state = PayloadState.open(cutAt(source, backup, last.point), backup, directory)
    try {
      state.advance(until, (records) => progress(`${records.toLocaleString('en')} records of the backup read`))
      return await work(state)
    } finally {
      await state.close()
    }
  } finally {
    disk.removeTree(directory)
  }
}
