import { createPublicKey, verify } from 'node:crypto'
import { decodeBody, hexadecimal, isBytes } from '../bodies.ts'

/** An entry with a checkpoint over all records before a sequence. Plain data: it comes from worker threads. */
export interface CheckpointEntry {
  readonly sequence: number
  /** In the file of its segment. */
  readonly offset: number
  /** Of the entry, in hexadecimal as all hashes here. */
  readonly hash: string
  readonly size: number
  readonly root: string
  readonly bundleRoot: string
  /** Hash of the entry of the checkpoint before. */
  readonly previous: string
  readonly origin: string
  readonly publicKey: string
  /** Whether its own key signed it. */
  readonly isSigned: boolean
}

export const CHECKPOINT_SIGNED = 47

export const CHANGES_INDEX = 9
const FIELDS = 8
export const HASH_BYTES = 32
export const SIGNATURE_BYTES = 64
/** A public key of Ed25519 as node:crypto takes it: RFC 8410. */
const KEY_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** The checkpoints that the body of an entry signs; undefined when one does not have its form. */
export function readCheckpoints(
  body: Uint8Array,
  place: Pick<CheckpointEntry, 'sequence' | 'offset' | 'hash'>,
): CheckpointEntry[] | undefined {
  const changes = decodeBody(body)?.[CHANGES_INDEX]
  if (!Array.isArray(changes)) return undefined
  const signed = changes.filter((change) => Array.isArray(change) && change[0] === CHECKPOINT_SIGNED)
  const read = signed.flatMap((change: unknown[]) => readOne(change, place) ?? [])
  return read.length === signed.length ? read : undefined
}

function readOne(
  change: unknown[],
  place: Pick<CheckpointEntry, 'sequence' | 'offset' | 'hash'>,
): CheckpointEntry | undefined {
  const [, size, root, bundleRoot, previous, origin, publicKey, signature] = change
  if (change.length !== FIELDS || !Number.isSafeInteger(size) || typeof origin !== 'string') return undefined
  if (!isBytes(root, HASH_BYTES) || !isBytes(bundleRoot, HASH_BYTES) || !isBytes(previous, HASH_BYTES)) return undefined
  if (!isBytes(publicKey, HASH_BYTES) || !isBytes(signature, SIGNATURE_BYTES)) return undefined
  const text = Buffer.from(`${origin}\n${size as number}\n${Buffer.from(root).toString('base64')}\n`)
  return {
    ...place,
    size: size as number,
    root: hexadecimal(root),
    bundleRoot: hexadecimal(bundleRoot),
    previous: hexadecimal(previous),
    origin,
    publicKey: hexadecimal(publicKey),
    isSigned: isSigned(text, publicKey, signature),
  }
}

/** Whether this is an Ed25519 signature of the key over the text. */
export function isSigned(text: Buffer, publicKey: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: Buffer.concat([KEY_HEAD, publicKey]), format: 'der', type: 'spki' })
    return verify(null, text, key, signature)
  } catch {
    // Bytes that are no point of the curve.
    return false
  }
}
