import type { Command, CommandOf, DeletionRefusal } from '../commands/commands.ts'
import type { DeletionOutcome } from '../commands/done.ts'
import type { EngineReply, EngineRequest } from './requests.ts'
import type { AuditContext } from '../events/audit.ts'

export type DeleteObjects = Extract<Command, { kind: 'delete-objects' }>

/** Callbacks of the engine for a batch of deletions. */
interface DeletionWork {
  /** Carries out a deletion with its records. */
  remove(deletion: CommandOf<'delete-object'>): EngineReply
  /** Makes the records of what its sender refused. */
  refuse(audit: AuditContext, refusal: DeletionRefusal): void
  /** Whether the batch takes another one. */
  hasRoom(): boolean
}

/** Bytes of a key's attempt and outcome, without the texts that they repeat. */
const RECORDS_BYTES = 512
/** An attempt and an outcome name the resource each, and the change names the key. */
const KEY_REPEATS = 3

/**
 * Deletes key by key, for as long as the batch has room; the first is carried out in any case. A refusal, by the sender
 * or by the rules, concerns one key. Which keys are atomic together: decision 0137.
 */
export function deleteObjects(command: DeleteObjects, work: DeletionWork): DeletionOutcome[] {
  const outcomes: DeletionOutcome[] = []
  for (const deletion of command.deletions) {
    if (outcomes.length > 0 && !work.hasRoom()) break
    outcomes.push(deleteOne(command, deletion, work))
  }
  return outcomes
}

function deleteOne(
  { audit: sender, bucket, bypassGovernance }: DeleteObjects,
  { key, version, condition, metadata, refusal }: DeleteObjects['deletions'][number],
  work: DeletionWork,
): DeletionOutcome {
  const resource = `bucket:${bucket}/${key}`
  const audit = { ...sender, resource, metadata: [...sender.metadata, ...metadata] }
  if (refusal !== undefined) {
    work.refuse(audit, refusal)
    return { kind: 'refused' }
  }
  const named = version === undefined ? {} : { version }
  const reply = work.remove({ kind: 'delete-object', audit, bucket, key, condition, bypassGovernance, ...named })
  if (reply === undefined) throw new Error('a deletion without a reply')
  if (!reply.ok) return { kind: 'failed', code: reply.code, subject: reply.subject }
  const { version: deleted, marker } = reply.done
  return { kind: 'deleted', ...(deleted !== undefined && { version: deleted }), ...(marker && { marker }) }
}

/**
 * Approximate bytes of the records of a batch of deletions; 0 for any other request. A request that may not fit the
 * rest of a batch goes into the next, so that earlier requests do not cut it in two.
 */
export function deletionBytes(request: EngineRequest): number {
  if (request.kind !== 'command' || request.command.kind !== 'delete-objects') return 0
  let bytes = 0
  for (const { key } of request.command.deletions) bytes += RECORDS_BYTES + KEY_REPEATS * Buffer.byteLength(key)
  return bytes
}
