import type { Command, Done } from '../commands/commands.ts'
import type { AuditContext, AuditResult, Pairs } from '../events/audit.ts'

/** The only way to change state, for an engine in the same thread and for one at the other end of a message port. */
export interface EngineClient {
  /**
   * Resolves when the entry is durable and visible to every reader; nothing else acknowledges.
   * @throws DomainError when the rules refuse (the refusal is in the journal)
   * @throws EngineUnavailableError when the engine has failed and nothing was changed, or, as an OutcomeUnknownError, when
   *   nobody can say whether the change will exist after a restart
   */
  execute(command: Command): Promise<Done>
  /**
   * Puts a record of a request that changed nothing into the journal: a read, a denial, a failure. Callers wait only when
   * it returns a promise: too many records are on their way, and it resolves when there is room again. While the journal has
   * no room for it, the request is counted instead, and answered.
   * @param mustBeRecorded for a request that is refused when it cannot be recorded
   * @throws EngineUnavailableError, also from the promise, when the engine has failed: nobody may be answered then
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
