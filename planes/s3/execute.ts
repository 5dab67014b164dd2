import type { Command, Done } from '../../engine/commands.ts'
import { DomainError } from '../../engine/errors.ts'
import type { Pairs } from '../../engine/events/audit.ts'
import { s3ErrorOf } from './domain-errors.ts'
import type { S3Request } from './s3-request.ts'
import { auditOf } from './s3-request.ts'
import type { S3Services } from './services.ts'

/** Commands that a request can ask for; the others are the store's own. */
type Change = Extract<Command, { readonly bucket: string }>
type WithoutAudit<C> = C extends Change ? Omit<C, 'audit' | 'intent'> : never

/**
 * Has the engine carry out a change for a request, under the attempt that is in the journal, if one is. `details` are
 * further metadata of its audit records.
 * @throws S3Error when the rules refuse; the refusal is in the journal then
 */
export async function execute(
  request: S3Request,
  services: S3Services,
  change: WithoutAudit<Change>,
  details: Pairs = [],
): Promise<Done> {
  const intent = request.journaled.kind === 'attempt' ? { intent: request.journaled.sequence } : {}
  const context = auditOf(request)
  const audit = { ...context, metadata: [...context.metadata, ...details] }
  try {
    const done = await services.engine.execute({ ...change, audit, ...intent } as Change)
    request.journaled = { kind: 'outcome' }
    return done
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    request.journaled = { kind: 'outcome' }
    // A fault of the server: not an answer of the rules, so it goes to the log before it becomes an InternalError.
    if (error.code === 'command-failed')
      throw new Error(`the engine failed at a command: ${error.subject}`, { cause: error })
    throw s3ErrorOf(error)
  }
}
