import { Unpackr } from 'msgpackr/index-no-eval'

/**
 * Reads plain MessagePack. Bytes are copied out of the source, because a journal reader reuses its memory.
 */
const unpackr = new Unpackr({ useRecords: false, copyBuffers: true, mapsAsObjects: false, int64AsType: 'number' })

/** The body of a valid genesis. */
interface GenesisBody {
  readonly formatVersion: number
  readonly product: string
  /** In hexadecimal. */
  readonly deploymentId: string
  /** In hexadecimal. */
  readonly masterKeyCheck: string
}

/** The body of a valid seal. */
export interface SealBody {
  readonly segmentNumber: number
  readonly firstSequence: number
  readonly lastSequence: number
  readonly length: number
  /** In hexadecimal. */
  readonly contentDigest: string
}

/** The values of a body, or undefined when it is not one MessagePack array and nothing more. */
export function decodeBody(body: Uint8Array): unknown[] | undefined {
  try {
    const value: unknown = unpackr.unpack(body)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Undefined when the body is not a genesis by `spec/formats/journal.md`. */
export function readGenesis(body: Uint8Array): GenesisBody | undefined {
  const values = decodeBody(body)
  if (values?.length !== 4) return undefined
  const [formatVersion, product, deploymentId, masterKeyCheck] = values
  if (typeof formatVersion !== 'number' || typeof product !== 'string') return undefined
  if (!isBytes(deploymentId, 16) || !isBytes(masterKeyCheck, 32)) return undefined
  return {
    formatVersion,
    product,
    deploymentId: hexadecimal(deploymentId),
    masterKeyCheck: hexadecimal(masterKeyCheck),
  }
}

/** Undefined when the body is not a seal by `spec/formats/journal.md`. */
export function readSeal(body: Uint8Array): SealBody | undefined {
  const values = decodeBody(body)
  if (values?.length !== 5) return undefined
  const [segmentNumber, firstSequence, lastSequence, length, contentDigest] = values
  if (typeof segmentNumber !== 'number' || typeof firstSequence !== 'number') return undefined
  if (typeof lastSequence !== 'number' || typeof length !== 'number' || !isBytes(contentDigest, 32)) return undefined
  return { segmentNumber, firstSequence, lastSequence, length, contentDigest: hexadecimal(contentDigest) }
}

/** Bytes in hexadecimal. */
export function hexadecimal(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Whether a value is this many bytes. */
export function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length === length
}
