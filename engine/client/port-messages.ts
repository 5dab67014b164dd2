import type { Command } from '../commands/commands.ts'
import type { EngineReply } from '../engine.ts'

/** From a front end to the engine thread: everything of one turn of its event loop. */
export interface RequestMessage {
  readonly kind: 'requests'
  readonly commands: readonly (readonly [id: number, command: Command])[]
  /** Bodies of audit records, back to back, each with its length in 4 bytes before it. */
  readonly audits: Uint8Array | undefined
}

/** From the engine thread to a front end: everything of one batch. */
export type ReplyMessage =
  | {
      readonly kind: 'replies'
      readonly replies: readonly (readonly [id: number, reply: EngineReply])[]
      /** Bytes of audit records that are in the journal since the last message. */
      readonly auditBytes: number
    }
  | { readonly kind: 'failed'; readonly reason: string }

const LENGTH_BYTES = 4

/** Bytes of an audit record in a message, by the length of its body. */
export function auditMessageBytes(bodyLength: number): number {
  return LENGTH_BYTES + bodyLength
}

/** Collects bodies of audit records into one buffer for one message. */
export class AuditPacker {
  #bytes = Buffer.allocUnsafe(64 * 1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(body: Uint8Array): void {
    const needed = this.#length + LENGTH_BYTES + body.length
    if (needed > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], needed * 2)
    this.#bytes.writeUInt32BE(body.length, this.#length)
    this.#bytes.set(body, this.#length + LENGTH_BYTES)
    this.#length = needed
  }

  /** The collected bodies, in memory of their own so that it can be transferred; undefined when there are none. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#length === 0) return undefined
    const bytes = new Uint8Array(this.#length)
    bytes.set(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return bytes
  }
}

/** The bodies in a message, as views. */
export function* unpackAudits(bytes: Uint8Array): Generator<Uint8Array> {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at < view.length) {
    const length = view.readUInt32BE(at)
    yield view.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + length)
    at += LENGTH_BYTES + length
  }
}
