import type { EngineClient } from './engine-client.ts'
import type { Command } from '../commands/commands.ts'
import type { Done } from '../commands/done.ts'
import type { EngineReply } from '../loop/requests.ts'
import type { EngineLoop } from '../loop/engine-loop.ts'
import { DomainError, OutcomeUnknownError } from '../errors.ts'
import { type AuditContext, type AuditResult, isOfStranger, type Pairs } from '../events/audit.ts'
import { encodeEntry } from '../events/entry-codec.ts'
import { MissedRecords } from '../records/missed-records.ts'

/** The result of `execute` for a reply. */
export function doneOrThrow(reply: EngineReply): Done {
  if (reply === undefined) throw new OutcomeUnknownError('the engine did not reply')
  if (!reply.ok) throw new DomainError(reply.code, reply.subject)
  return reply.done
}

/** Whether a command was refused for want of room. */
function isJournalFull(reply: EngineReply): boolean {
  return reply?.ok === false && reply.code === 'journal-full'
}

/** An engine in the same thread: for specs, for offline commands and for embedding. */
export class LocalEngineClient implements EngineClient {
  readonly #loop: EngineLoop
  readonly #missed = new MissedRecords()

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

  record(
    audit: AuditContext,
    result: Exclude<AuditResult, 'attempted'>,
    intent?: number,
    mustBeRecorded = false,
  ): undefined {
    if (this.#loop.failure !== undefined) throw this.#loop.failure
    if (!isOfStranger(audit) && intent === undefined) {
      if (this.#loop.roomFor !== 'everything') {
        if (mustBeRecorded) throw new DomainError('journal-full')
        this.#missed.count(audit, result)
        return undefined
      }
      this.#recordMissed()
    }
    const body = Uint8Array.from(encodeEntry(audit, result, intent, []))
    if (isOfStranger(audit)) this.#loop.submitStranger({ address: audit.sourceAddress ?? '', result, body })
    else this.#loop.submit({ kind: 'audit', body })
    return undefined
  }

  recordFailedChange(audit: AuditContext, result: 'denied' | 'failure', details: Pairs): undefined {
    if (this.#loop.failure !== undefined) throw this.#loop.failure
    const command: Command = { kind: 'record-failed-change', audit, result, details }
    this.#loop.submit({ kind: 'command', command }, (reply) => {
      if (isJournalFull(reply)) this.#missed.count(audit, result)
    })
    return undefined
  }

  #recordMissed(): void {
    for (const audit of this.#missed.takeSummaries()) {
      this.#loop.submit({ kind: 'audit', body: Uint8Array.from(encodeEntry(audit, 'failure', undefined, [])) })
    }
  }
}
