import { Packr } from 'msgpackr/index-no-eval'
import type { Sequence } from '../brands.ts'
import type { Command, CommandOf } from '../commands/commands.ts'
import type { WriteBody, WriteCondition } from '../commands/spine-commands.ts'
import type { AuditContext } from '../events/audit.ts'
import type { HeaderPairs, LockState, ObjectChecksum } from '../events/values.ts'

/**
 * Writes of small objects on their way to the engine thread. Most commands of a busy store are such writes, and sending
 * each as an object costs both threads more than all their other work for it: names of members are sent and looked up
 * again, and each body is an allocation. So the writes of one turn are packed into one piece of memory:
 *
 *     length of the head (4) | length of the bytes (4) | head: a MessagePack array | bytes
 */
const LENGTHS_BYTES = 8
const STARTING_BYTES = 16 * 1024

type SmallWrite = CommandOf<'write-object'> & { readonly body: Extract<WriteBody, { kind: 'inline' }> }

/** Without tags. */
type PlainHead = readonly [
  id: number,
  bucket: string,
  key: string,
  size: number,
  etag: string,
  digest: Uint8Array,
  headers: HeaderPairs,
  metadata: HeaderPairs,
  bodyChecksum: number,
  sealed: boolean,
  condition: WriteCondition | null,
  lock: LockState | null,
  checksum: ObjectChecksum | null,
  intent: Sequence | null,
  principal: string,
  credentialId: string | null,
  sourceAddress: string | null,
  requestId: string | null,
  operation: string,
  resource: string,
  details: AuditContext['metadata'],
]

type Head = readonly [...PlainHead, tags?: NonNullable<SmallWrite['tags']>]

const packr = new Packr({ useRecords: false, int64AsType: 'number' })
const NO_CONDITION: WriteCondition = { kind: 'none' }

export function isSmallWrite(command: Command): command is SmallWrite {
  return command.kind === 'write-object' && command.body.kind === 'inline'
}

/** Collects the writes of one message. */
export class WritePacker {
  #heads = Buffer.allocUnsafeSlow(STARTING_BYTES)
  #headsLength = 0
  #headLengths: number[] = []
  #bodies: Uint8Array[] = []
  #bodiesLength = 0

  /** The bytes of the body must not change before `take`. */
  add(id: number, command: SmallWrite): void {
    const head = packr.pack(headOf(id, command))
    const end = this.#headsLength + head.length
    if (end > this.#heads.length) this.#heads = Buffer.concat([this.#heads], end * 2)
    this.#heads.set(head, this.#headsLength)
    this.#headsLength = end
    this.#headLengths.push(head.length)
    this.#bodies.push(command.body.bytes)
    this.#bodiesLength += command.body.bytes.length
  }

  /** The collected writes, in a buffer that can be transferred; undefined without any. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    const count = this.#bodies.length
    if (count === 0) return undefined
    const packed = Buffer.allocUnsafeSlow(count * LENGTHS_BYTES + this.#headsLength + this.#bodiesLength)
    let at = 0
    let headAt = 0
    for (let index = 0; index < count; index += 1) {
      const headLength = this.#headLengths[index] as number
      const body = this.#bodies[index] as Uint8Array
      packed.writeUInt32BE(headLength, at)
      packed.writeUInt32BE(body.length, at + 4)
      this.#heads.copy(packed, at + LENGTHS_BYTES, headAt, headAt + headLength)
      packed.set(body, at + LENGTHS_BYTES + headLength)
      headAt += headLength
      at += LENGTHS_BYTES + headLength + body.length
    }
    this.#headsLength = 0
    this.#headLengths = []
    this.#bodies = []
    this.#bodiesLength = 0
    return packed
  }
}

function headOf(id: number, command: SmallWrite): Head {
  const { tags } = command
  return tags === undefined ? plainHeadOf(id, command) : [...plainHeadOf(id, command), tags]
}

/** Members of a write that a head carries. A member that is not here does not compile: it would be lost on the way. */
type Carried = 'kind' | 'bucket' | 'key' | 'size' | 'etag' | 'digest' | 'headers' | 'metadata' | 'body'
type CarriedBeside = 'condition' | 'lock' | 'checksum' | 'intent' | 'audit' | 'tags'
type Whole = Exclude<keyof SmallWrite, Carried | CarriedBeside> extends never ? SmallWrite : never

function plainHeadOf(id: number, command: Whole): PlainHead {
  const { body, condition, audit } = command
  return [
    id,
    command.bucket,
    command.key,
    command.size,
    command.etag,
    command.digest,
    command.headers,
    command.metadata,
    body.checksum,
    body.sealed,
    condition.kind === 'none' ? null : condition,
    command.lock ?? null,
    command.checksum ?? null,
    command.intent ?? null,
    audit.principal,
    audit.credentialId ?? null,
    audit.sourceAddress ?? null,
    audit.requestId ?? null,
    audit.operation,
    audit.resource,
    audit.metadata,
  ]
}

/** Calls `take` with each write of a message, in their order. Their bytes are views of `packed`. */
export function unpackWrites(packed: Uint8Array, take: (id: number, command: SmallWrite) => void): void {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  for (let at = 0; at < bytes.length; ) {
    const bodyAt = at + LENGTHS_BYTES + bytes.readUInt32BE(at)
    const end = bodyAt + bytes.readUInt32BE(at + 4)
    const head = packr.unpack(bytes.subarray(at + LENGTHS_BYTES, bodyAt)) as Head
    take(head[0], commandOf(head, bytes.subarray(bodyAt, end)))
    at = end
  }
}

function commandOf(head: Head, bytes: Uint8Array): SmallWrite {
  const [, bucket, key, size, etag, digest, headers, metadata, checksum, sealed] = head
  const command: SmallWrite = {
    kind: 'write-object',
    bucket,
    key,
    size,
    etag,
    digest,
    headers,
    metadata,
    body: { kind: 'inline', bytes, checksum, sealed },
    condition: head[10] ?? NO_CONDITION,
    audit: {
      principal: head[14],
      credentialId: head[15] ?? undefined,
      sourceAddress: head[16] ?? undefined,
      requestId: head[17] ?? undefined,
      operation: head[18],
      resource: head[19],
      metadata: head[20],
    },
  }
  const tags = head[21]
  if (head[11] === null && head[12] === null && head[13] === null && tags === undefined) return command
  return {
    ...command,
    ...(head[11] !== null && { lock: head[11] }),
    ...(head[12] !== null && { checksum: head[12] }),
    ...(head[13] !== null && { intent: head[13] }),
    ...(tags !== undefined && { tags }),
  }
}
