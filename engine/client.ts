import type { Command, Done } from './commands.ts'
import type { AuditContext, AuditResult, Pairs } from './events/audit.ts'

/**
 * The only way to change state. The same callers work over an engine in the same thread and over one behind a message
 * port.
 */
export interface EngineClient {
  /**
   * Resolves when the entry is durable and visible to every reader; nothing else acknowledges.
   * @throws DomainError when the rules refuse (the refusal is in the journal)
   * @throws EngineUnavailableError when the outcome is unknown
   */
  execute(command: Command): Promise<Done>
  /**
   * Puts a record of a request that changed nothing into the journal: a read, a denial, a failure. It is not waited
   * for, unless too many are on their way: then the promise says when there is room again.
   */
  record(audit: AuditContext, result: Exclude<AuditResult, 'attempted'>, intent?: number): Promise<void> | undefined
  /**
   * Attempt and outcome of a change that failed before it reached the engine. Not waited for either. `details` is what
   * the outcome's metadata has more than the attempt's.
   */
  recordFailedChange(audit: AuditContext, result: 'denied' | 'failure', details: Pairs): Promise<void> | undefined
}
