import type { WriteCondition } from '../commands/spine-commands.ts'
import { DomainError } from '../errors.ts'
import type { ObjectState } from '../state-ports.ts'

/**
 * Judges a write's condition against the current object (S3 "conditional writes": If-Match on a key that does not exist
 * is a 404, not a 412).
 * @throws DomainError precondition-failed, object-not-found
 */
export function requireCondition(condition: WriteCondition, current: ObjectState | undefined): void {
  switch (condition.kind) {
    case 'none':
      return
    case 'absent':
      if (current !== undefined) throw new DomainError('precondition-failed', 'If-None-Match')
      return
    case 'exists':
      if (current === undefined) throw new DomainError('object-not-found')
      return
    case 'matches':
      if (current === undefined) throw new DomainError('object-not-found')
      if (!condition.etags.includes(current.etag)) throw new DomainError('precondition-failed', 'If-Match')
      return
    case 'differs':
      if (current !== undefined && condition.etags.includes(current.etag)) {
        throw new DomainError('precondition-failed', 'If-None-Match')
      }
  }
}

/**
 * Judges the condition of a deletion. Deleting what does not exist succeeds under every condition; a delete marker exists
 * and has no ETag.
 * @throws DomainError precondition-failed
 */
export function requireDeleteCondition(condition: WriteCondition, newest: ObjectState | undefined): void {
  if (newest === undefined) return
  if (newest.isMarker && condition.kind === 'matches') throw new DomainError('precondition-failed', 'If-Match')
  if (newest.isMarker && condition.kind === 'differs') return
  requireCondition(condition, newest)
}
