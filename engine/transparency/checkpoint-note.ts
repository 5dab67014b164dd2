/**
 * A checkpoint as text: C2SP tlog-checkpoint over signed-note. It says that a log of this origin has so many entries, and the
 * root of the tree over them.
 */
import { hash } from 'node:crypto'
import { isSigned } from '../proof/ed25519.ts'

/** What a checkpoint says. */
export interface CheckpointStatement {
  readonly origin: string
  /** Entries that the tree covers: the sequence of the last one, and one more. */
  readonly size: number
  /** 32 bytes, RFC 6962. */
  readonly root: Uint8Array
}

/** A signature line of a note. */
interface NoteSignature {
  readonly name: string
  /** 4 bytes, in hexadecimal. */
  readonly keyId: string
  readonly signature: Buffer
}

interface CheckpointNote extends CheckpointStatement {
  /** The bytes that are signed. */
  readonly text: Buffer
  readonly signatures: readonly NoteSignature[]
}

/** A key that notes are verified with. */
interface VerifierKey {
  readonly name: string
  readonly keyId: string
  /** 32 bytes. */
  readonly publicKey: Buffer
}

/** A text is not a checkpoint, or not a key of one. */
export class CheckpointNoteError extends Error {
  override readonly name = 'CheckpointNoteError'
}

/** Type of a key and of its signatures: Ed25519 (C2SP signed-note). */
const ED25519 = 1
const KEY_ID_BYTES = 4
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const NOTE_BYTES_MAXIMUM = 64 * 1024
const SIGNATURE_LINE = /^— (?<name>[^\s+]+) (?<base64>[A-Za-z0-9+/]+={0,2})$/
const DECIMAL = /^(?:0|[1-9]\d{0,15})$/

/** The bytes that are signed. */
export function checkpointText({ origin, size, root }: CheckpointStatement): Buffer {
  return Buffer.from(`${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`)
}

/** A checkpoint with the signature of its log. */
export function checkpointNote(statement: CheckpointStatement, publicKey: Uint8Array, signature: Uint8Array): string {
  const signed = Buffer.concat([keyIdOf(statement.origin, publicKey), signature]).toString('base64')
  return `${checkpointText(statement).toString()}\n— ${statement.origin} ${signed}\n`
}

/** The key as those who verify keep it: C2SP signed-note, "vkey". */
export function verifierKeyText(name: string, publicKey: Uint8Array): string {
  const key = Buffer.concat([Buffer.of(ED25519), publicKey]).toString('base64')
  return `${name}+${keyIdOf(name, publicKey).toString('hex')}+${key}`
}

/** @throws CheckpointNoteError */
export function readVerifierKey(text: string): VerifierKey {
  const [, name = '', keyId = '', base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const key = Buffer.from(base64, 'base64')
  if (key[0] !== ED25519 || key.length !== 1 + KEY_BYTES || key.toString('base64') !== base64) {
    throw new CheckpointNoteError('the key is not an Ed25519 key in the form NAME+ID+KEY')
  }
  const publicKey = key.subarray(1)
  if (keyIdOf(name, publicKey).toString('hex') !== keyId) {
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
  const isWhole = split > 0 && note.endsWith('\n') && origin !== '' && extensions.every((line) => line !== '')
  if (!isWhole || !DECIMAL.test(size) || hashed.length !== KEY_BYTES || hashed.toString('base64') !== root) {
    throw new CheckpointNoteError('the text is not a checkpoint: origin, size, root, an empty line, signatures')
  }
  const signatures = note
    .slice(split + 2, -1)
    .split('\n')
    .map(signatureOf)
  return { origin, size: Number(size), root: hashed, text: Buffer.from(text), signatures }
}

/** Whether the log whose key this is has signed the note. Signatures of other keys are ignored, as C2SP has it. */
export function isSignedBy({ origin, text, signatures }: CheckpointNote, key: VerifierKey): boolean {
  return (
    origin === key.name &&
    signatures.some(
      ({ name, keyId, signature }) =>
        name === key.name &&
        keyId === key.keyId &&
        signature.length === SIGNATURE_BYTES &&
        isSigned(signature, text, key.publicKey),
    )
  )
}

function signatureOf(line: string): NoteSignature {
  const { name = '', base64 = '' } = SIGNATURE_LINE.exec(line)?.groups ?? {}
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length <= KEY_ID_BYTES || bytes.toString('base64') !== base64) {
    throw new CheckpointNoteError('a signature line is malformed')
  }
  return { name, keyId: bytes.toString('hex', 0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) }
}

function keyIdOf(name: string, publicKey: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey])
  return hash('sha256', bytes, 'buffer').subarray(0, KEY_ID_BYTES)
}
