/** What the engine adds to the caller's data in the records of a command. */
import type { DecidableCommand } from '../commands/commands.ts'
import type { VersionSelector } from '../commands/version-name.ts'
import { bypassedVersion } from '../domain/lock.ts'
import { isRowDamage } from '../errors.ts'
import type { AuditContext, Pairs } from '../events/audit.ts'
import type { OpaqueIds } from '../keys/opaque-ids.ts'
import type { StateReader } from '../state-ports.ts'

/** Operation in the audit records of a bypass (specification, Audit event). */
export const BYPASS_OPERATION = 's3:object-lock.bypass'

export function withPairs(audit: AuditContext, pairs: Pairs): AuditContext {
  return pairs.length === 0 ? audit : { ...audit, metadata: [...audit.metadata, ...pairs] }
}

/**
 * Adds the version id that clients see, so that the log alone shows which version a change was about, unless the caller
 * has recorded the version that its request named.
 */
export function namedVersion(
  audit: AuditContext,
  version: VersionSelector | undefined,
  versionIds: OpaqueIds,
): AuditContext {
  if (version === undefined || version === 'unknown') return audit
  if (audit.metadata.some((text, index) => index % 2 === 0 && text === 'version_id')) return audit
  return withPairs(audit, ['version_id', version === 'null' ? version : versionIds.encode(version)])
}

/**
 * The audit context of a bypass of governance retention, which has its own pair of records (rule 8). Undefined also where a row
 * is damaged: the decision meets the same row, and is refused.
 */
export function bypassAudit(
  command: DecidableCommand,
  state: StateReader,
  versionIds: OpaqueIds,
): AuditContext | undefined {
  if (!('bypassGovernance' in command)) return undefined
  const version = bypassedUnlessDamaged(command, state)
  if (version === undefined) return undefined
  return namedVersion({ ...command.audit, operation: BYPASS_OPERATION }, version, versionIds)
}

function bypassedUnlessDamaged(
  ...[command, state]: Parameters<typeof bypassedVersion>
): ReturnType<typeof bypassedVersion> {
  try {
    return bypassedVersion(command, state)
  } catch (error) {
    if (isRowDamage(error)) return undefined
    throw error
  }
}
