import type { Command } from '../commands/commands.ts'
import type { Done } from '../commands/done.ts'
import type { AuditContext, AuditResult, Pairs } from '../events/audit.ts'

/** The only way to change state, for an engine in the same thread and for one at the other end of a message port. */
export interface EngineClient {
  /**
   * Resolves when the entry is durable and visible to every reader; nothing else acknowledges.
   * @throws DomainError when the rules refuse (the refusal is in the journal)
   * @throws EngineUnavailableError when the engine has failed and nothing was changed; an OutcomeUnknownError when only
   *   a restart will show whether the change exists
   */
  execute(command: Command): Promise<Done>
  /**
   * Puts a record of a request that changed nothing into the journal: a read, a denial, a failure. Returns a promise
   * when too many records are on their way; it resolves when there is room again, and callers wait for it. While the
   * journal has no room for the record, the request is counted instead, and answered.
   * @param mustBeRecorded for a request that is refused when it cannot be recorded
   * @throws EngineUnavailableError, also from the promise, when the engine has failed: no request may be answered then
   * @throws DomainError `journal-full` when it must be recorded and the journal has no room
   */
  record(
    audit: AuditContext,
    result: Exclude<AuditResult, 'attempted'>,
    intent?: number,
    mustBeRecorded?: boolean,
  ): Promise<void> | undefined
  /**
   * Records attempt and outcome of a change that failed before it reached the engine; a promise means the same. `details`
   * is further metadata of the outcome.
   * @throws EngineUnavailableError when the engine has failed
   */
  recordFailedChange(audit: AuditContext, result: 'denied' | 'failure', details: Pairs): Promise<void> | undefined
}
