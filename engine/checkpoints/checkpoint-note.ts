/**
 * A checkpoint as text: C2SP tlog-checkpoint over signed-note. It states the origin of the log, its number of entries,
 * and the root of the tree over them.
 */
import { hash } from 'node:crypto'
import { isSigned } from '../proof/ed25519.ts'

/** The statement of a checkpoint. */
export interface CheckpointStatement {
  readonly origin: string
  /** Entries that the tree covers: the sequence of the last one, and one more. */
  readonly size: number
  /** 32 bytes, RFC 6962. */
  readonly root: Uint8Array
}

/** A signature line of a note. */
export interface NoteSignature {
  readonly name: string
  /** 4 bytes, in hexadecimal. */
  readonly keyId: string
  readonly signature: Buffer
}

export interface CheckpointNote extends CheckpointStatement {
  /** The bytes that are signed. */
  readonly text: Buffer
  readonly signatures: readonly NoteSignature[]
}

/** A key that notes are verified with. */
export interface VerifierKey {
  readonly name: string
  readonly keyId: string
  /** 32 bytes. */
  readonly publicKey: Buffer
}

/** A text is not a checkpoint, or not a key of one. */
export class CheckpointNoteError extends Error {
  override readonly name = 'CheckpointNoteError'
}

/** Key types of logs and of witnesses, all of them Ed25519 (C2SP signed-note). */
const KEY_TYPES = { log: 1, witness: 4 } as const
type KeyType = keyof typeof KEY_TYPES

const KEY_ID_BYTES = 4
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const NOTE_BYTES_MAXIMUM = 64 * 1024
/** The limit of Go's note package; C2SP tlog-witness asks for 16. */
const SIGNATURES_MAXIMUM = 100
const SIGNATURE_LINE = /^— (?<name>[^\s\u0085+]+) (?<base64>[A-Za-z0-9+/]+={0,2})$/
const DECIMAL = /^(?:0|[1-9]\d{0,15})$/

/** The bytes that are signed. */
export function checkpointText({ origin, size, root }: CheckpointStatement): Buffer {
  return Buffer.from(`${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`)
}

/** A checkpoint with the signature of its log. */
export function checkpointNote(statement: CheckpointStatement, publicKey: Uint8Array, signature: Uint8Array): string {
  return `${checkpointText(statement).toString()}\n${signatureLine('log', statement.origin, publicKey, signature)}`
}

/** A line under a note, with its line feed. */
export function signatureLine(type: KeyType, name: string, publicKey: Uint8Array, signature: Uint8Array): string {
  return `— ${name} ${Buffer.concat([keyIdOf(type, name, publicKey), signature]).toString('base64')}\n`
}

/** The key as verifiers keep it: C2SP signed-note, "vkey". */
export function verifierKeyText(name: string, publicKey: Uint8Array, type: KeyType = 'log'): string {
  const key = Buffer.concat([Buffer.of(KEY_TYPES[type]), publicKey]).toString('base64')
  return `${name}+${keyIdOf(type, name, publicKey).toString('hex')}+${key}`
}

/** @throws CheckpointNoteError */
export function readVerifierKey(text: string, type: KeyType = 'log'): VerifierKey {
  const [, name = '', keyId = '', base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const key = Buffer.from(base64, 'base64')
  if (key[0] !== KEY_TYPES[type] || key.length !== 1 + KEY_BYTES || key.toString('base64') !== base64) {
    throw new CheckpointNoteError(`the key is not an Ed25519 key of a ${type} in the form NAME+ID+KEY`)
  }
  const publicKey = key.subarray(1)
  if (keyIdOf(type, name, publicKey).toString('hex') !== keyId) {
    throw new CheckpointNoteError('the id of the key does not match its name and its bytes')
  }
  return { name, keyId, publicKey }
}

/** @throws CheckpointNoteError */
export function readCheckpointNote(note: string): CheckpointNote {
  if (Buffer.byteLength(note) > NOTE_BYTES_MAXIMUM) throw new CheckpointNoteError('the checkpoint is too long')
  const split = note.lastIndexOf('\n\n')
  const text = note.slice(0, split + 1)
  const [origin = '', size = '', root = '', ...extensions] = text.slice(0, -1).split('\n')
  const hashed = Buffer.from(root, 'base64')
  const isWhole = split > 0 && origin !== '' && extensions.every((line) => line !== '') && !hasControls(note)
  const isTree = DECIMAL.test(size) && Number.isSafeInteger(Number(size))
  if (!isWhole || !isTree || hashed.length !== KEY_BYTES || hashed.toString('base64') !== root) {
    throw new CheckpointNoteError('the text is not a checkpoint: origin, size, root, an empty line, signatures')
  }
  const signatures = readSignatureLines(note.slice(split + 2))
  return { origin, size: Number(size), root: hashed, text: Buffer.from(text), signatures }
}

/**
 * One or more signature lines, each with its line feed: the end of a note, or the answer of a witness. @throws
 * CheckpointNoteError
 */
export function readSignatureLines(lines: string): NoteSignature[] {
  if (!lines.endsWith('\n')) throw new CheckpointNoteError('the last line has no line feed')
  const found = lines.slice(0, -1).split('\n', SIGNATURES_MAXIMUM + 1)
  if (found.length > SIGNATURES_MAXIMUM) {
    throw new CheckpointNoteError(`there are more than ${SIGNATURES_MAXIMUM} signatures`)
  }
  return found.map(signatureOf)
}

/**
 * Whether the log whose key this is has signed the note. Signatures of other keys are ignored, as C2SP has it, and a false one
 * of this key counts against the whole note.
 */
export function isSignedBy(note: CheckpointNote, key: VerifierKey): boolean {
  return note.origin === key.name && hasSignature(note, key)
}

/** The same of any note. */
export function hasSignature(
  { text, signatures }: Pick<CheckpointNote, 'text' | 'signatures'>,
  key: VerifierKey,
): boolean {
  const own = signaturesOf(signatures, key)
  return own.length > 0 && own.every((one) => one.length === SIGNATURE_BYTES && isSigned(one, text, key.publicKey))
}

/** The signatures of a key under a note, without repetitions. */
export function signaturesOf(signatures: readonly NoteSignature[], { name, keyId }: VerifierKey): Buffer[] {
  const own = signatures.filter((one) => one.name === name && one.keyId === keyId)
  return [...new Map(own.map(({ signature }) => [signature.toString('hex'), signature])).values()]
}

/** @throws CheckpointNoteError */
function signatureOf(line: string): NoteSignature {
  const { name = '', base64 = '' } = SIGNATURE_LINE.exec(line)?.groups ?? {}
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length <= KEY_ID_BYTES || bytes.toString('base64') !== base64) {
    throw new CheckpointNoteError('a signature line is malformed')
  }
  return { name, keyId: bytes.toString('hex', 0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) }
}

const SPACE = 0x20
const LINE_FEED = 0x0a

/** C2SP signed-note allows no control character but the line feed. */
function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < SPACE && code !== LINE_FEED) return true
  }
  return false
}

function keyIdOf(type: KeyType, name: string, publicKey: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(KEY_TYPES[type]), publicKey])
  return hash('sha256', bytes, 'buffer').subarray(0, KEY_ID_BYTES)
}
