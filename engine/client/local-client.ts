import type { EngineClient } from './engine-client.ts'
import type { Command, Done } from '../commands/commands.ts'
import type { EngineReply } from '../requests.ts'
import type { EngineLoop } from '../engine-loop.ts'
import { DomainError, OutcomeUnknownError } from '../errors.ts'
import { type AuditContext, type AuditResult, isOfStranger, type Pairs } from '../events/audit.ts'
import { encodeEntry } from '../events/entry-codec.ts'

/** The result of `execute` for a reply. */
export function doneOrThrow(reply: EngineReply): Done {
  if (reply === undefined) throw new OutcomeUnknownError('the engine did not reply')
  if (!reply.ok) throw new DomainError(reply.code, reply.subject)
  return reply.done
}

/** An engine in the same thread: for specs, for offline commands and for embedding. */
export class LocalEngineClient implements EngineClient {
  readonly #loop: EngineLoop

  constructor(loop: EngineLoop) {
    this.#loop = loop
  }

  execute(command: Command): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.#loop.submit({ kind: 'command', command }, (reply, failure) => {
        if (failure !== undefined) {
          reject(failure)
          return
        }
        try {
          resolve(doneOrThrow(reply))
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  record(audit: AuditContext, result: Exclude<AuditResult, 'attempted'>, intent?: number): undefined {
    if (this.#loop.failure !== undefined) throw this.#loop.failure
    if (!isOfStranger(audit) && this.#loop.roomFor !== 'everything') throw new DomainError('journal-full')
    const body = Uint8Array.from(encodeEntry(audit, result, intent, []))
    if (isOfStranger(audit)) this.#loop.submitStranger({ address: audit.sourceAddress ?? '', result, body })
    else this.#loop.submit({ kind: 'audit', body })
    return undefined
  }

  recordFailedChange(audit: AuditContext, result: 'denied' | 'failure', details: Pairs): undefined {
    if (this.#loop.failure !== undefined) throw this.#loop.failure
    this.#loop.submit({ kind: 'command', command: { kind: 'record-failed-change', audit, result, details } })
    return undefined
  }
}
