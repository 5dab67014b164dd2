import { hash } from 'node:crypto'
import { decodeBody, hexadecimal, isBytes } from '../bodies.ts'
import { CHANGES_INDEX, HASH_BYTES, isSigned, SIGNATURE_BYTES } from './checkpoint-entry.ts'

/** An entry by which the key of the log handed over to another one. Plain data: it comes from worker threads. */
export interface HandoverEntry {
  readonly sequence: number
  /** In the file of its segment. */
  readonly offset: number
  readonly origin: string
  readonly generation: number
  /** Public keys, in hexadecimal. */
  readonly oldKey: string
  readonly newKey: string
  /** Of the checkpoint before it. */
  readonly size: number
  readonly root: string
  /** Whether the old key has signed it, and the new one. */
  readonly isSignedByOld: boolean
  readonly isSignedByNew: boolean
}

export const KEY_ROTATED = 56

const FIELDS = 9
const FIRST_LINE = 'object-store checkpoint key handover v1'
const KEY_ID_DIGITS = 8

/** The hand-overs in the body of an entry; undefined when one does not have its form. */
export function readHandovers(
  body: Uint8Array,
  place: Pick<HandoverEntry, 'sequence' | 'offset'>,
): HandoverEntry[] | undefined {
  const changes = decodeBody(body)?.[CHANGES_INDEX]
  if (!Array.isArray(changes)) return undefined
  const found = changes.filter((change) => Array.isArray(change) && change[0] === KEY_ROTATED)
  const read = found.flatMap((change: unknown[]) => readOne(change, place) ?? [])
  return read.length === found.length ? read : undefined
}

function readOne(change: unknown[], place: Pick<HandoverEntry, 'sequence' | 'offset'>): HandoverEntry | undefined {
  const [, origin, generation, oldKey, newKey, size, root, oldSignature, newSignature] = change
  if (change.length !== FIELDS || typeof origin !== 'string') return undefined
  if (!Number.isSafeInteger(generation) || !Number.isSafeInteger(size)) return undefined
  if (!isBytes(oldKey, HASH_BYTES) || !isBytes(newKey, HASH_BYTES) || !isBytes(root, HASH_BYTES)) return undefined
  if (!isBytes(oldSignature, SIGNATURE_BYTES) || !isBytes(newSignature, SIGNATURE_BYTES)) return undefined
  const base64 = Buffer.from(root).toString('base64')
  const lines = [FIRST_LINE, origin, size as number, base64, keyText(origin, oldKey), keyText(origin, newKey), '']
  const text = Buffer.from(lines.join('\n'))
  return {
    ...place,
    origin,
    generation: generation as number,
    oldKey: hexadecimal(oldKey),
    newKey: hexadecimal(newKey),
    size: size as number,
    root: hexadecimal(root),
    isSignedByOld: isSigned(text, oldKey, oldSignature),
    isSignedByNew: isSigned(text, newKey, newSignature),
  }
}

/** C2SP signed-note, "vkey". */
function keyText(name: string, publicKey: Uint8Array): string {
  const typed = Buffer.concat([Buffer.of(1), publicKey])
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed])).slice(0, KEY_ID_DIGITS)
  return `${name}+${id}+${typed.toString('base64')}`
}
