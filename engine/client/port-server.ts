import type { MessagePort } from 'node:worker_threads'
import type { Command } from '../commands/commands.ts'
import type { EngineReply } from '../loop/requests.ts'
import type { EngineLoop } from '../loop/engine-loop.ts'
import { OutcomeUnknownError, type EngineUnavailableError } from '../errors.ts'
import type { RoomFor } from '../journal/journal-room.ts'
import { unpackWrites } from './packed-writes.ts'
import { auditMessageBytes, type ReplyMessage, type RequestMessage, unpackAudits } from './port-messages.ts'

/** The engine thread's side of one front end: requests in, the replies of each batch out in one message. */
export class PortServer {
  readonly #port: MessagePort
  readonly #loop: EngineLoop
  #replies: [id: number, reply: EngineReply][] = []
  #written: number[] = []
  #auditBytes = 0

  constructor(port: MessagePort, loop: EngineLoop) {
    this.#port = port
    this.#loop = loop
    port.on('message', (message: RequestMessage) => this.#receive(message))
    if (loop.roomFor !== 'everything') this.roomChanged(loop.roomFor)
  }

  /** Sends the replies of the last batch. */
  flush(): void {
    if (this.#replies.length === 0 && this.#written.length === 0 && this.#auditBytes === 0) return
    const written = this.#written.length === 0 ? undefined : Float64Array.from(this.#written)
    const message: ReplyMessage = { kind: 'replies', replies: this.#replies, written, auditBytes: this.#auditBytes }
    this.#replies = []
    this.#written = []
    this.#auditBytes = 0
    this.#port.postMessage(message)
  }

  /** Tells the front end what the journal has room for now. */
  roomChanged(roomFor: RoomFor): void {
    const message: ReplyMessage = { kind: 'room', takesRecords: roomFor === 'everything' }
    this.#port.postMessage(message)
  }

  /** Tells the front end that no more replies follow. */
  fail(forWaiters: EngineUnavailableError): void {
    const outcome = forWaiters instanceof OutcomeUnknownError ? 'unknown' : 'unchanged'
    const message: ReplyMessage = { kind: 'failed', reason: forWaiters.message, outcome }
    this.#port.postMessage(message)
  }

  close(): void {
    this.#port.close()
  }

  #receive(message: RequestMessage): void {
    // First: they are of requests that were answered before these commands were sent.
    if (message.audits !== undefined) this.#record(message.audits)
    if (message.writes !== undefined) {
      unpackWrites(message.writes, (id, command) => this.#submit(command, (reply) => this.#replyToWrite(id, reply)))
    }
    for (const [id, command] of message.commands) {
      this.#submit(command, (reply) => this.#replies.push([id, reply]))
    }
  }

  #record(audits: Uint8Array): void {
    let hasCounted = false
    for (const { body, stranger } of unpackAudits(audits)) {
      const settle = () => {
        this.#auditBytes += auditMessageBytes(body.length)
      }
      if (stranger === undefined) this.#loop.submit({ kind: 'audit', body }, settle)
      else if (this.#loop.submitStranger({ ...stranger, body }, settle)) hasCounted = true
    }
    // Counted records are part of no batch, and the front end waits for room.
    if (hasCounted) this.flush()
  }

  #submit(command: Command, answer: (reply: EngineReply) => void): void {
    this.#loop.submit({ kind: 'command', command }, (reply, failure) => {
      if (failure === undefined) answer(reply)
    })
  }

  #replyToWrite(id: number, reply: EngineReply): void {
    if (reply?.ok !== true || reply.done.version !== undefined) this.#replies.push([id, reply])
    else this.#written.push(id, reply.done.sequence, reply.done.timeMicroseconds)
  }
}
