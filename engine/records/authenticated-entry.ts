import type { Microseconds, Sequence } from '../brands.ts'
import type { AuditContext, AuditResult, Pairs } from '../events/audit.ts'
import type { Change } from '../events/changes.ts'
import { encodeEntry } from '../events/entry-codec.ts'
import type { BatchBuilder } from '../journal/batch-builder.ts'
import { RECORD_KIND } from '../journal/format.ts'
import { type AccessAuthentication, changesAccess, UNSIGNED } from '../access/access-authentication.ts'
import type { StateTransaction } from '../state-store.ts'

/**
 * Adds the entry of a command that succeeded, authenticated if it changes access.
 * @returns its changes, with the authentication
 */
export function addSuccess(
  batch: BatchBuilder,
  access: AccessAuthentication,
  state: StateTransaction,
  entry: {
    readonly time: Microseconds
    readonly audit: AuditContext
    readonly intent: Sequence | undefined
    readonly changes: readonly Change[]
  },
): readonly Change[] {
  const { time, audit, intent, changes } = entry
  if (!changesAccess(changes)) {
    addEntry(batch, time, audit, 'success', intent, changes)
    return changes
  }
  const body = encodeEntry(audit, 'success', intent, [...changes, UNSIGNED])
  const stored = { sequence: batch.nextSequence, ...batch.timesOfNext(time), body }
  const mac = Uint8Array.from(access.sign(state.accessCode, stored))
  batch.add(RECORD_KIND.change, time, body)
  return [...changes, { name: 'access.authenticated', mac }]
}

/** Adds an entry without authentication: its changes do not concern access. */
export function addEntry(
  batch: BatchBuilder,
  time: Microseconds,
  audit: AuditContext,
  result: AuditResult,
  intent: Sequence | undefined,
  changes: readonly Change[],
): Sequence {
  const kind = changes.length === 0 ? RECORD_KIND.audit : RECORD_KIND.change
  return batch.add(kind, time, encodeEntry(audit, result, intent, changes))
}

/**
 * Adds the entries of a request that was refused before the rules: the attempt of an authorized request, then the
 * outcome. `details` is further metadata of the outcome.
 */
export function addRefusal(
  batch: BatchBuilder,
  time: Microseconds,
  refused: { readonly audit: AuditContext; readonly result: 'denied' | 'failure'; readonly details?: Pairs },
  isAuthorized: boolean,
): Sequence {
  const { audit, result, details = [] } = refused
  const attempt = isAuthorized ? addEntry(batch, time, audit, 'attempted', undefined, []) : undefined
  return addEntry(batch, time, { ...audit, metadata: [...audit.metadata, ...details] }, result, attempt, [])
}
