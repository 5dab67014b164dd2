import { sequenceOf } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { Command } from '../../engine/commands/commands.ts'
import type { Done } from '../../engine/commands/done.ts'
import { DomainError } from '../../engine/errors.ts'
import { type AuditContext, auditResultOf, type Pairs } from '../../engine/events/audit.ts'

/** Provides the content of a request's records. */
export interface AuditSource {
  /** What is known so far; undefined for a request that is not recorded, such as a probe. */
  audit(): AuditContext | undefined
}

/** Commands of requests; the others are internal to the store. */
type Change = Exclude<
  Command,
  {
    kind:
      | 'record-attempt'
      | 'record-failed-change'
      | 'record-read'
      | 'record-server-event'
      | 'record-digest'
      | 'record-scrub'
      | 'reclaim-upload'
      | 'move-payloads'
      | 'remove-volume'
      | 'expire-page'
      | 'record-deliveries'
      | 'count-download'
      | 'sign-checkpoint'
      | 'record-receipt'
      | 'publish-checkpoint'
      | 'cosign-checkpoint'
  }
>
type WithoutAudit<C> = C extends Change ? Omit<C, 'audit' | 'intent'> : never

/** Changes that a request makes in the name of the system. */
type SystemChange =
  | Omit<Extract<Command, { kind: 'record-receipt' }>, 'audit' | 'intent'>
  | Omit<Extract<Command, { kind: 'cosign-checkpoint' }>, 'audit' | 'intent'>

/** A command of a request, without its audit context. */
export type RequestedChange = WithoutAudit<Change>

/**
 * The records of one request in the journal. The engine records a change in the batch that makes it; everything else is
 * recorded when the answer is known.
 */
export class RequestJournal {
  readonly #engine: EngineClient
  readonly #source: AuditSource
  /** Sequence of the attempt that is in the journal and has no outcome yet. */
  #attempt: number | undefined
  #hasOutcome = false
  /** The operation of an awaited read, under which its outcome is recorded when its answer ends. */
  #awaited: string | undefined
  #notes: Pairs = []
  #isLeftUnrecorded = false

  constructor(engine: EngineClient, source: AuditSource) {
    this.#engine = engine
    this.#source = source
  }

  /** Adds details to the metadata of every later record of the request. */
  note(...details: Pairs): void {
    this.#notes = [...this.#notes, ...details]
  }

  /**
   * Records the attempt of a long change before it starts. A change that starts again keeps its recorded attempt.
   * `details` are further metadata of this record.
   * @throws EngineUnavailableError
   */
  async attempt(details: Pairs = []): Promise<void> {
    if (this.#attempt !== undefined) return
    const { sequence } = await this.#engine.execute({ kind: 'record-attempt', audit: this.#context(details) })
    this.#attempt = sequence
  }

  /**
   * Has the engine carry out a change, under the attempt if there is one. `details` are further metadata of its records.
   * @throws DomainError when the rules refuse; the refusal is in the journal then
   * @throws EngineUnavailableError when nothing was changed, OutcomeUnknownError when the change may have been made
   * @throws Error when the engine failed at the command, which is a server fault and not a refusal
   */
  execute(change: RequestedChange, details: Pairs = []): Promise<Done> {
    return this.#send(change, this.#context(details))
  }

  /**
   * As `execute`, but recorded under another operation than the request's, for each part of a batch such as a key. The
   * request itself is not recorded.
   */
  executeAs(named: Pick<AuditContext, 'operation' | 'metadata'>, change: RequestedChange): Promise<Done> {
    return this.#send(change, { ...this.#context([]), ...named })
  }

  /**
   * Has the engine carry out a change in the name of the system. It has no attempt, and the outcome of the request is
   * recorded separately.
   * @throws as `execute`
   */
  async executeAsSystem(component: string, operation: string, change: SystemChange): Promise<Done> {
    const { resource, requestId, sourceAddress } = this.#context([])
    const audit: AuditContext = {
      principal: `system:${component}`,
      credentialId: undefined,
      sourceAddress,
      requestId,
      operation,
      resource,
      metadata: [],
    }
    return this.#engine.execute({ ...change, audit } as Command)
  }

  async #send(change: RequestedChange, audit: AuditContext): Promise<Done> {
    const command = this.#attempt === undefined ? { ...change, audit } : { ...change, audit, intent: this.#attempt }
    try {
      const done = await this.#engine.execute(command as Change)
      this.#hasOutcome = true
      return done
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      this.#hasOutcome = true
      if (error.code !== 'command-failed') throw error
      throw new Error(`the engine failed at a command: ${error.subject}`, { cause: error })
    }
  }

  /**
   * Records the attempt of a read as `operation`, durably before any of its bytes are sent. The outcome is recorded when they
   * are all produced (`concludeRead`), or break off.
   * @returns sequence and time of the attempt
   * @throws EngineUnavailableError, DomainError `journal-full`
   */
  async beginRead(operation: string, details: Pairs): Promise<Done> {
    const audit = { ...this.#context(details), operation }
    const done = await this.#engine.execute({ kind: 'record-read', audit, result: 'attempted' })
    this.#attempt = done.sequence
    this.#awaited = operation
    return done
  }

  /** Records that a read succeeded; resolves when that is durable. `details` are metadata of this record. @throws as `beginRead` */
  async concludeRead(details: Pairs): Promise<void> {
    if (this.#attempt === undefined) throw new Error('the outcome of a read that was not begun')
    const audit = this.#context(details)
    await this.#engine.execute({ kind: 'record-read', audit, result: 'success', intent: sequenceOf(this.#attempt) })
    this.#hasOutcome = true
  }

  /**
   * Records that the body of an answer broke off: as the outcome of an awaited read, otherwise as a second record of the
   * request, whose first says only that the answer was begun. Never fails: the answer is lost already.
   */
  brokeOff(status: number, errorCode: string, sentBytes: number): void {
    if (this.#isLeftUnrecorded || (this.#awaited !== undefined && this.#hasOutcome)) return
    const context = this.#noted(this.#source.audit())
    if (context === undefined) return
    this.#hasOutcome = true
    const details = ['status', status, 'error', errorCode, 'sent_bytes', sentBytes]
    try {
      const audit = { ...context, metadata: [...context.metadata, ...details] }
      this.#engine.record(audit, 'failure', this.#attempt)?.catch(() => undefined)
    } catch {
      // The engine has failed, which ends the server.
    }
  }

  /** The body of an answer was closed before its end: its client has gone. Only an awaited read has a record of that. */
  left(status: number, sentBytes: number): void {
    if (this.#awaited !== undefined) this.brokeOff(status, 'client-gone', sentBytes)
  }

  /** Makes no record of the request itself: its change is recorded in the name of the system, or it changed nothing. */
  leaveUnrecorded(): void {
    this.#hasOutcome = true
    this.#isLeftUnrecorded = true
  }

  /** Starts another try of a refused change; the records so far belong to the previous try. */
  retry(): void {
    this.#attempt = undefined
    this.#hasOutcome = false
  }

  /**
   * Records the answer, unless the engine has recorded it. Returns a promise only while the journal has too many
   * pending records; it resolves when there is room again.
   * @param isChange whether the request was authorized to change state: then a failure is recorded with an attempt,
   *   even if nothing was tried
   */
  finish(status: number, errorCode: string | undefined, isChange: boolean): Promise<void> | undefined {
    if (this.#hasOutcome) return undefined
    // The body of an awaited read says how it ends.
    if (this.#awaited !== undefined && errorCode === undefined) return undefined
    const context = this.#noted(this.#source.audit())
    if (context === undefined) return undefined
    this.#hasOutcome = true
    const details = errorCode === undefined ? ['status', status] : ['status', status, 'error', errorCode]
    const result = auditResultOf(status)
    if (isChange && result !== 'success' && this.#attempt === undefined) {
      return this.#engine.recordFailedChange(context, result, details)
    }
    const audit = { ...context, metadata: [...context.metadata, ...details] }
    // The record of an authorized change must not be missing; the record of a read may be, on a full disk.
    return this.#engine.record(audit, result, this.#attempt, isChange)
  }

  #context(details: Pairs): AuditContext {
    const context = this.#noted(this.#source.audit())
    if (context === undefined) throw new Error('a request that is not recorded may not change anything')
    return details.length === 0 ? context : { ...context, metadata: [...context.metadata, ...details] }
  }

  #noted(context: AuditContext | undefined): AuditContext | undefined {
    if (context === undefined || (this.#notes.length === 0 && this.#awaited === undefined)) return context
    const operation = this.#awaited ?? context.operation
    return { ...context, operation, metadata: [...context.metadata, ...this.#notes] }
  }
}
