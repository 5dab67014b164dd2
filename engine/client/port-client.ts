import type { MessagePort } from 'node:worker_threads'
import type { EngineClient } from './engine-client.ts'
import type { Command } from '../commands/commands.ts'
import type { Done } from '../commands/done.ts'
import { DomainError, EngineUnavailableError, OutcomeUnknownError } from '../errors.ts'
import { type AuditContext, type AuditResult, isOfStranger, type Pairs } from '../events/audit.ts'
import { encodeEntry } from '../events/entry-codec.ts'
import { MissedRecords } from '../records/missed-records.ts'
import { microsecondsOf, sequenceOf } from '../brands.ts'
import { doneOrThrow } from './local-client.ts'
import { isSmallWrite, WritePacker } from './packed-writes.ts'
import { AuditPacker, auditMessageBytes, type ReplyMessage, type RequestMessage } from './port-messages.ts'

/** Default bound of audit bytes on their way to the journal; above it readers wait. */
const AUDIT_BYTES_MAXIMUM = 4 << 20

/**
 * How long records of reads may wait to share a message: each message wakes the engine thread, and no request waits for
 * its record.
 */
const RECORDS_LINGER_MILLISECONDS = 5
/** More bytes than this are sent at once. */
const RECORDS_LINGER_BYTES_MAXIMUM = 32 * 1024

/** Commands on their way before callers of `recordFailedChange` are made to wait. */
const COMMANDS_MAXIMUM = 4096

function ignore(): void {}

interface Waiting {
  readonly resolve: (done: Done) => void
  readonly reject: (error: Error) => void
  /** Of a small write. */
  readonly etag: string
}

/** A message holds the whole memory that its bytes are a part of, so bytes in shared memory are copied. */
function withOwnMemory(command: Command): Command {
  if (command.kind !== 'write-object' && command.kind !== 'write-part') return command
  const digest = alone(command.digest)
  const { body } = command
  return { ...command, digest, body: body.kind === 'inline' ? { ...body, bytes: alone(body.bytes) } : body }
}

function alone(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}

/**
 * The engine at the other end of a message port: at most one message each way in a turn of the event loop. Commands go at
 * the end of their turn, and records of reads with them, or by themselves within milliseconds.
 */
export class PortEngineClient implements EngineClient {
  readonly #port: MessagePort
  readonly #auditBytesMaximum: number
  readonly #waiting = new Map<number, Waiting>()
  readonly #audits = new AuditPacker()
  readonly #missed = new MissedRecords()
  readonly #writes = new WritePacker()
  #commands: [id: number, command: Command][] = []
  #transfer: ArrayBuffer[] = []
  #nextId = 1
  #auditBytes = 0
  #room: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  #scheduled = false
  /** Set while nothing but records waits. */
  #lingering: NodeJS.Timeout | undefined
  #takesRecords = true
  #failure: string | undefined

  /** @param auditBytesMaximum bytes of audit records on their way before readers are made to wait */
  constructor(port: MessagePort, auditBytesMaximum = AUDIT_BYTES_MAXIMUM) {
    this.#port = port
    this.#auditBytesMaximum = auditBytesMaximum
    port.on('message', (message: ReplyMessage) => this.#receive(message))
  }

  /** False while the disk is so full that reads are only counted, since their records have no room. */
  get takesRecords(): boolean {
    return this.#takesRecords
  }

  /** Answered requests without a record since the start. */
  get missedTotal(): number {
    return this.#missed.total
  }

  execute(command: Command): Promise<Done> {
    if (this.#failure !== undefined) return Promise.reject(new EngineUnavailableError(this.#failure))
    const id = this.#nextId
    this.#nextId += 1
    const isSmall = isSmallWrite(command)
    if (isSmall) this.#writes.add(id, command)
    else this.#push(id, command)
    this.#schedule()
    const etag = isSmall ? command.etag : ''
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject, etag }))
  }

  record(
    audit: AuditContext,
    result: Exclude<AuditResult, 'attempted'>,
    intent?: number,
    mustBeRecorded = false,
  ): Promise<void> | undefined {
    if (this.#failure !== undefined) throw new EngineUnavailableError(this.#failure)
    const stranger = isOfStranger(audit) ? { address: audit.sourceAddress ?? '', result } : undefined
    // Strangers are counted by the engine, and the outcome of an attempt belongs to it.
    if (!this.#takesRecords && stranger === undefined && intent === undefined) {
      if (mustBeRecorded) throw new DomainError('journal-full')
      this.#missed.count(audit, result)
      return undefined
    }
    this.#add(encodeEntry(audit, result, intent, []), stranger)
    return intent === undefined || this.#takesRecords ? this.#whenThereIsRoom() : undefined
  }

  #add(
    body: Uint8Array,
    stranger?: { readonly address: string; readonly result: Exclude<AuditResult, 'attempted'> },
  ): void {
    this.#audits.add(body, stranger)
    this.#auditBytes += auditMessageBytes(body.length)
    if (this.#audits.length > RECORDS_LINGER_BYTES_MAXIMUM) this.#schedule()
    else if (!this.#scheduled) this.#lingering ??= setTimeout(() => this.#schedule(), RECORDS_LINGER_MILLISECONDS)
  }

  #addMissed(): void {
    for (const audit of this.#missed.takeSummaries()) this.#add(encodeEntry(audit, 'failure', undefined, []))
  }

  recordFailedChange(audit: AuditContext, result: 'denied' | 'failure', details: Pairs): Promise<void> | undefined {
    if (this.#failure !== undefined) throw new EngineUnavailableError(this.#failure)
    // A refusal before the engine failed stays a refusal.
    const recorded = this.execute({ kind: 'record-failed-change', audit, result, details }).then(ignore, (error) => {
      if (error instanceof DomainError && error.code === 'journal-full') this.#missed.count(audit, result)
    })
    return this.#waiting.size > COMMANDS_MAXIMUM ? recorded : undefined
  }

  #whenThereIsRoom(): Promise<void> | undefined {
    if (this.#auditBytes < this.#auditBytesMaximum) return undefined
    return new Promise((resolve, reject) => this.#room.push({ resolve, reject }))
  }

  #push(id: number, asked: Command): void {
    const command = withOwnMemory(asked)
    this.#commands.push([id, command])
    if ('body' in command && command.body.kind === 'inline') this.#handOver(command.body.bytes)
  }

  /** A small payload that is alone in its buffer is transferred instead of copied. */
  #handOver(bytes: Uint8Array): void {
    if (bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength) {
      this.#transfer.push(bytes.buffer)
    }
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#send())
  }

  /** Sends waiting records, and summaries of counted ones. Called before the port is closed. */
  flush(): void {
    this.#addMissed()
    this.#send()
  }

  #send(): void {
    if (!this.#scheduled && this.#lingering === undefined) return
    this.#scheduled = false
    clearTimeout(this.#lingering)
    this.#lingering = undefined
    const audits = this.#audits.take()
    const writes = this.#writes.take()
    const message: RequestMessage = { kind: 'requests', commands: this.#commands, writes, audits }
    const transfer = this.#transfer
    if (audits !== undefined) transfer.push(audits.buffer)
    if (writes !== undefined) transfer.push(writes.buffer)
    this.#commands = []
    this.#transfer = []
    this.#port.postMessage(message, transfer)
  }

  #receive(message: ReplyMessage): void {
    if (message.kind === 'failed') {
      this.#fail(message)
      return
    }
    if (message.kind === 'room') {
      this.#takesRecords = message.takesRecords
      if (message.takesRecords) this.#addMissed()
      // Records on their way are kept until there is room; waiting callers would wait as long.
      else for (const { resolve } of this.#room.splice(0)) resolve()
      return
    }
    this.#auditBytes -= message.auditBytes
    if (this.#auditBytes < this.#auditBytesMaximum) for (const { resolve } of this.#room.splice(0)) resolve()
    if (message.written !== undefined) this.#resolveWrites(message.written)
    for (const [id, reply] of message.replies) {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      try {
        waiting?.resolve(doneOrThrow(reply))
      } catch (error) {
        waiting?.reject(error as Error)
      }
    }
  }

  #resolveWrites(written: Float64Array): void {
    for (let at = 0; at < written.length; at += 3) {
      const id = written[at] as number
      const waiting = this.#waiting.get(id)
      if (waiting === undefined) continue
      this.#waiting.delete(id)
      const sequence = sequenceOf(written[at + 1] as number)
      waiting.resolve({ sequence, timeMicroseconds: microsecondsOf(written[at + 2] as number), etag: waiting.etag })
    }
  }

  #fail({ reason, outcome }: Extract<ReplyMessage, { kind: 'failed' }>): void {
    this.#failure = reason
    const Told = outcome === 'unknown' ? OutcomeUnknownError : EngineUnavailableError
    for (const waiting of this.#waiting.values()) waiting.reject(new Told(reason))
    this.#waiting.clear()
    for (const { reject } of this.#room.splice(0)) reject(new EngineUnavailableError(reason))
  }
}
