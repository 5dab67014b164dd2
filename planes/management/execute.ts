import type { Command, Done } from '../../engine/commands.ts'
import { DomainError, EngineUnavailableError } from '../../engine/errors.ts'
import type { Pairs } from '../../engine/events/audit.ts'
import { managementErrorOf } from './domain-errors.ts'
import { ManagementError } from './errors.ts'
import { auditOf, type ManagementRequest } from './management-request.ts'
import type { ManagementServices } from './services.ts'

/** Commands that a request can ask for; the others are the store's own. */
type Change = Exclude<
  Command,
  { kind: 'record-attempt' | 'record-failed-change' | 'record-server-event' | 'move-payloads' | 'remove-volume' }
>
type WithoutAudit<C> = C extends Change ? Omit<C, 'audit' | 'intent'> : never

/**
 * Has the engine carry out a change for a request, under the attempt that is in the journal, if one is. `details` are
 * further metadata of its audit records.
 * @throws ManagementError when the rules refuse (the refusal is in the journal then), or AUDIT_UNAVAILABLE
 */
export async function execute(
  request: ManagementRequest,
  services: ManagementServices,
  change: WithoutAudit<Change>,
  details: Pairs = [],
): Promise<Done> {
  const intent = request.journaled.kind === 'attempt' ? { intent: request.journaled.sequence } : {}
  const audit = auditOf(request, details)
  try {
    const done = await services.engine.execute({ ...change, audit, ...intent } as Change)
    request.journaled = { kind: 'outcome' }
    return done
  } catch (error) {
    if (error instanceof EngineUnavailableError) throw new ManagementError('AUDIT_UNAVAILABLE')
    if (!(error instanceof DomainError)) throw error
    request.journaled = { kind: 'outcome' }
    // A fault of the server: not an answer of the rules, so it goes to the log before it becomes an INTERNAL_ERROR.
    if (error.code === 'command-failed') {
      throw new Error(`the engine failed at a command: ${error.subject}`, { cause: error })
    }
    throw managementErrorOf(error)
  }
}
