import { next, previous, type Sequence } from '../../../engine/brands.ts'
import { BYPASS_OPERATION } from '../../../engine/records/record-context.ts'
import type { ProofAnchor, ProofFormatVersion, ProofHistory, ProofRecord } from '../../../engine/proof/bundle-types.ts'
import type { CheckpointState, ReceiptState } from '../../../engine/checkpoints/state.ts'
import { AuditLogDamagedError } from '../../../projections/audit/audit-export.ts'
import type { ChainedRecord } from '../../../projections/audit/chained-records.ts'
import type { Turns } from '../../../projections/audit/turns.ts'
import { LOCK_CHANGES_MAXIMUM } from '../../../projections/tables/lock-changes.ts'
import { type BundlePath, LogRefusal } from '../../../projections/checkpoints/checkpoint-log.ts'
import type { FoundObject } from '../../objects/find-object.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../requests/timestamps.ts'

function unavailable(detail: string): ProofHistory {
  return { status: 'unavailable', reason: 'not_yet_checkpointed', detail }
}

const OFF = unavailable(
  'This deployment makes no checkpoints of its audit chain; the bundle proves the bytes and not the history.',
)
const NOT_COVERED = unavailable(
  'No checkpoint covers all records of this version yet; the bundle proves the bytes and not the history.',
)
const NOT_READY = unavailable(
  'A checkpoint covers all records of this version, but the trees that prove it are being made again; ask again later.',
)
const TREES_DAMAGED = unavailable(
  'A checkpoint covers all records of this version, but the trees that prove it were damaged and are being derived again from the journal; ask again later.',
)
const TOO_MANY = unavailable(
  `The lock of this version was changed more than ${LOCK_CHANGES_MAXIMUM} times, which is more than a bundle tells; the audit log has every change.`,
)

type Services = Pick<ManagementServices, 'audit' | 'checkpoints' | 'checkpointFacts' | 'damageFound'>

/** The entry that wrote a version, and the entries that changed its lock. */
export function entriesOf({ snapshot, bucket, key, object }: FoundObject): readonly Sequence[] {
  return [object.sequence, ...snapshot.lockChanges(bucket.id, key, object.sequence)]
}

/**
 * The history of a version for its proof bundle, once one checkpoint covers all its records.
 * @param entries of `entriesOf`, in the turn that found the version
 * @param version of the format: 2 has the records themselves
 */
export async function versionHistory(
  entries: readonly Sequence[],
  version: ProofFormatVersion,
  { audit, checkpoints, checkpointFacts, damageFound }: Services,
  turns: Turns,
): Promise<ProofHistory> {
  if (!checkpointFacts().isOn) return OFF
  const checkpoint = checkpoints.newest()
  const last = entries.at(-1)
  if (checkpoint === undefined || last === undefined || last >= checkpoint.size) return NOT_COVERED
  if (entries.length > 1 + LOCK_CHANGES_MAXIMUM) return TOO_MANY
  let records: readonly ChainedRecord[]
  try {
    records = await recordsOf(entries, audit, turns)
  } catch (error) {
    if (!(error instanceof AuditLogDamagedError)) throw error
    // The bytes can still be proved.
    damageFound('audit', error.message)
    return unavailable(`A record of this version is damaged, so its history cannot be shown: ${error.message}.`)
  }
  // A record of a bypass comes after the change that it allowed.
  if (records.some(({ sequence }) => sequence >= checkpoint.size)) return NOT_COVERED
  try {
    const paths = await checkpoints.bundlePaths(checkpoint, records, turns)
    return {
      ...presentHistory(records, version, paths, checkpoint),
      ...anchorOf(checkpoints.receiptsOf(checkpoint.size)),
    }
  } catch (error) {
    if (error instanceof LogRefusal && error.reason === 'not-ready') return NOT_READY
    if (error instanceof LogRefusal && error.reason === 'damaged') return TREES_DAMAGED
    throw error
  }
}

/** The newest time stamp of a checkpoint, over the root that the bundle states. */
function anchorOf(receipts: readonly ReceiptState[]): { readonly anchor?: ProofAnchor } {
  const stamp = receipts.findLast(({ kind }) => kind === 'rfc3161')
  if (stamp === undefined) return {}
  const { kind, assertedMicroseconds } = stamp
  const receipt = Buffer.from(stamp.receipt).toString('base64')
  return {
    anchor: { kind, receipt, ...(assertedMicroseconds && { asserted_at: rfc3339(assertedMicroseconds) }) },
  }
}

/** The records of the entries, of their attempts, and of bypassed retention (attempt and outcome). */
async function recordsOf(
  entries: readonly Sequence[],
  audit: ManagementServices['audit'],
  turns: Turns,
): Promise<readonly ChainedRecord[]> {
  const near = await audit.chained(
    entries.flatMap((entry) => [previous(entry), entry, next(entry)]),
    turns,
  )
  const outcomes = entries.map((entry) => present(near, entry))
  const bypasses = entries.flatMap((entry) => bypassOf(near, entry))
  const attempts = outcomes.flatMap(({ entry: { intent } }) => intent ?? [])
  const early = await audit.chained(
    attempts.filter((attempt) => !near.has(attempt)),
    turns,
  )
  const all = [...attempts.map((attempt) => near.get(attempt) ?? present(early, attempt)), ...outcomes, ...bypasses]
  return all.toSorted((left, right) => left.sequence - right.sequence)
}

/** The attempt to bypass a retention is the record before the change, and its outcome the one after it. */
function bypassOf(near: ReadonlyMap<Sequence, ChainedRecord>, entry: Sequence): ChainedRecord[] {
  const [attempt, outcome] = [near.get(previous(entry)), near.get(next(entry))]
  if (attempt === undefined || outcome === undefined) return []
  const isPair = outcome.entry.operation === BYPASS_OPERATION && outcome.entry.intent === attempt.sequence
  return isPair ? [attempt, outcome] : []
}

function present(records: ReadonlyMap<Sequence, ChainedRecord>, sequence: Sequence): ChainedRecord {
  const record = records.get(sequence)
  if (record === undefined) throw new AuditLogDamagedError(`the audit log has no entry ${sequence}`)
  return record
}

function presentHistory(
  records: readonly ChainedRecord[],
  version: ProofFormatVersion,
  paths: readonly BundlePath[],
  checkpoint: CheckpointState,
): ProofHistory {
  return {
    status: 'present',
    records: records.map(
      ({ sequence, timeMicroseconds, entry, hash, previousHash, stored }, at): ProofRecord => ({
        sequence,
        timestamp: rfc3339(timeMicroseconds),
        operation: entry.operation,
        principal: entry.principal,
        result: entry.result,
        previous_hash: previousHash,
        record_hash: hash,
        ...(version === 2 && { record: stored.toString('base64') }),
        inclusion_path: { index: sequence, steps: paths[at] ?? [] },
      }),
    ),
    checkpoint: {
      sequence: checkpoint.sequence,
      from_sequence: 0,
      to_sequence: checkpoint.size - 1,
      leaf_count: checkpoint.size,
      root: Buffer.from(checkpoint.bundleRoot).toString('hex'),
      previous_checkpoint_hash: Buffer.from(checkpoint.previous).toString('hex'),
    },
  }
}
