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
