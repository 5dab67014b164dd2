/** Bytes that requests carry, with the digests that the model needs of them. Equal recipes give the same object. */
import { hash } from 'node:crypto'
import { sampleBytes } from '../support/sample-bytes.ts'

export interface Content {
  readonly bytes: Buffer
  /** Hexadecimal. */
  readonly md5: string
  /** Hexadecimal. */
  readonly sha256: string
}

const made = new Map<string, Content>()

export function contentOf(seed: number, size: number): Content {
  const name = `${seed}/${size}`
  const known = made.get(name)
  if (known !== undefined) return known
  const bytes = sampleBytes(size, seed + 1)
  const content = { bytes, md5: hash('md5', bytes, 'hex'), sha256: hash('sha256', bytes, 'hex') }
  made.set(name, content)
  return content
}

/** Large parts are few and the same: what was joined once is kept, as long as anybody holds on to its first part. */
const joins = new WeakMap<Buffer, Map<string, Buffer>>()

export function joined(buffers: readonly Buffer[]): Buffer {
  const [first] = buffers
  if (first === undefined || buffers.length === 1) return first ?? Buffer.alloc(0)
  const known = joins.get(first) ?? new Map<string, Buffer>()
  joins.set(first, known)
  const name = hash('sha1', Buffer.concat(buffers.slice(1)), 'hex')
  const bytes = known.get(name) ?? Buffer.concat(buffers)
  known.set(name, bytes)
  return bytes
}
