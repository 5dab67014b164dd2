/** What the journal says was signed, held against trees of the same journal that are made from the words of RFC 6962. */
import type { Disk } from '../../../engine/disk/disk.ts'
import { type JournalEntry, journalEntries } from '../../support/journal-entries.ts'
import { signedHistory } from '../../support/signed-history.ts'

/** @returns the first thing that is wrong with the checkpoints of a journal, or with what a client was shown of them */
export function checkpointProblem(
  root: string,
  disk: Disk,
  entries: readonly JournalEntry[],
  shown: ReadonlyMap<string, ReadonlySet<number>>,
): string | undefined {
  const { signed, faults } = signedHistory(root, disk)
  const [fault] = faults
  if (fault !== undefined) return `the checkpoints are wrong: ${fault}`
  const withheld = new Set<number>()
  for (const { changes } of entries) {
    for (const change of changes) {
      if (change.name === 'checkpoint.withheld') withheld.add(change.size)
      if (change.name === 'checkpoint.published') withheld.delete(change.size)
    }
  }
  for (const [origin, sizes] of shown) {
    for (const size of sizes) {
      const isSigned = signed.some((one) => one.origin === origin && one.size === size)
      if (!isSigned) return `a client was shown a checkpoint of ${size} records that the journal does not have`
      if (withheld.has(size)) return `a client was shown the checkpoint of ${size} records, which is withheld`
    }
  }
  return undefined
}

/** The key that signed the first checkpoint of a journal: nobody knew a key of its log before. @throws Error without one */
export function firstCheckpointKey(root: string, disk: Disk): Uint8Array {
  for (const { changes } of journalEntries(root, disk)) {
    for (const change of changes) if (change.name === 'checkpoint.signed') return change.publicKey
  }
  throw new Error('a checkpoint is shown, and none was signed')
}
