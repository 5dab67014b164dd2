/** What the disk and the journal of a world say when all of it is over, and its last process has stopped in order. */
import { checkProjections } from '../../../projections/replay/check.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import type { StorageEvent } from '../../support/storage-events.ts'
import { auditProblem } from './audit-oracle.ts'
import { checkpointProblem } from './checkpoint-oracle.ts'
import { thing } from './coverage.ts'
import { requireIntactJournal } from './rot/journal-verdict.ts'
import { lawProblem } from './journal-laws.ts'
import { webhookProblem } from './webhook-oracle.ts'
import { ROOT, type WorldHost } from './world-host.ts'

/**
 * @param events as clients saw them last
 * @throws Error when rows, the chain, audit records or deliveries are not as they must be
 */
export async function judge(host: WorldHost, events: readonly StorageEvent[]): Promise<void> {
  const { differenceCount, differences } = await checkProjections(host.ground().disk, host.paths)
  if (differenceCount > 0) throw new Error(`rows are not those of the journal: ${JSON.stringify(differences[0])}`)
  await requireIntactJournal(host)
  const entries = journalEntries(ROOT, host.disk)
  for (const { changes } of entries) for (const { name } of changes) host.met.add(thing('change', name))
  const { answers, orderly, receivers, disk, checkpoints } = host
  const problem =
    lawProblem(entries, host.keyChanges) ??
    auditProblem(entries, answers, orderly) ??
    webhookProblem(entries, events, receivers, orderly) ??
    checkpointProblem(ROOT, disk, entries, checkpoints.shown)
  if (problem !== undefined) throw new Error(problem)
}
