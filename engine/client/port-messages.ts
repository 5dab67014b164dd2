import type { Command } from '../commands/commands.ts'
import type { EngineReply } from '../loop/requests.ts'
import { AUDIT_RESULT, AUDIT_RESULT_NAMES } from '../events/audit.ts'
import type { StrangerRecord } from '../records/stranger-records.ts'

/** From a front end to the engine thread: everything of one turn of its event loop. */
export interface RequestMessage {
  readonly kind: 'requests'
  readonly commands: readonly (readonly [id: number, command: Command])[]
  /** Writes of small objects, as `WritePacker` lays them out. */
  readonly writes?: Uint8Array | undefined
  /** Bodies of audit records, as `AuditPacker` lays them out. */
  readonly audits: Uint8Array | undefined
}

/** From the engine thread to a front end: everything of one batch. */
export type ReplyMessage =
  | {
      readonly kind: 'replies'
      readonly replies: readonly (readonly [id: number, reply: EngineReply])[]
      /** Of writes that succeeded with nothing else to report: id, sequence, time in microseconds. */
      readonly written?: Float64Array | undefined
      /** Bytes of audit records that are in the journal since the last message. */
      readonly auditBytes: number
    }
  /** Whether the journal has room for records of reads and refusals. */
  | { readonly kind: 'room'; readonly takesRecords: boolean }
  /** `outcome`: whether commands without a reply changed something. */
  | { readonly kind: 'failed'; readonly reason: string; readonly outcome: 'unchanged' | 'unknown' }

/** Before each body: its length in 4 bytes, the length of the address in one, the result in one, then the address. */
const HEADER_BYTES = 6
const ADDRESS_LENGTH_AT = 4
const RESULT_AT = 5

/** Bytes that an audit record counts as while it is on its way, by the length of its body. */
export function auditMessageBytes(bodyLength: number): number {
  return HEADER_BYTES + bodyLength
}

/** A requester without valid credentials, and the result of the request. */
type Stranger = Omit<StrangerRecord, 'body'>

/** Collects bodies of audit records into one buffer for one message. */
export class AuditPacker {
  #bytes = Buffer.allocUnsafe(64 * 1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** `stranger` is given for a request without valid credentials. An address is ASCII and at most 255 bytes. */
  add(body: Uint8Array, stranger?: Stranger): void {
    const { address = '', result = 'attempted' } = stranger ?? {}
    const bodyAt = this.#length + HEADER_BYTES + address.length
    const needed = bodyAt + body.length
    if (needed > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], needed * 2)
    this.#bytes.writeUInt32BE(body.length, this.#length)
    this.#bytes[this.#length + ADDRESS_LENGTH_AT] = address.length
    this.#bytes[this.#length + RESULT_AT] = AUDIT_RESULT[result]
    if (address !== '') this.#bytes.write(address, this.#length + HEADER_BYTES, 'latin1')
    this.#bytes.set(body, bodyAt)
    this.#length = needed
  }

  /** The collected bodies, in a buffer that can be transferred; undefined without any. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#length === 0) return undefined
    const bytes = new Uint8Array(this.#length)
    bytes.set(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return bytes
  }
}

/** The records in a message: their bodies, as views, and the strangers among them. */
export function* unpackAudits(bytes: Uint8Array): Generator<{ body: Uint8Array; stranger: Stranger | undefined }> {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at < view.length) {
    const length = view.readUInt32BE(at)
    const addressAt = at + HEADER_BYTES
    const bodyAt = addressAt + view.readUInt8(at + ADDRESS_LENGTH_AT)
    const result = AUDIT_RESULT_NAMES[view.readUInt8(at + RESULT_AT)]
    // `attempted` is the result of no finished request: it marks records of clients that named themselves.
    const stranger =
      result === undefined || result === 'attempted'
        ? undefined
        : { address: view.toString('latin1', addressAt, bodyAt), result }
    at = bodyAt + length
    yield { body: view.subarray(bodyAt, at), stranger }
  }
}
