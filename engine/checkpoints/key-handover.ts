/**
 * Hand-overs of the key of a log (spec/decisions/0147-checkpoints.md): a note, signed by the old key and by the new
 * one, with the checkpoint from which on the new one signs. Its first line has blanks, which no origin has, so it never
 * passes for a checkpoint, nor a checkpoint for it.
 */
import { isSigned } from '../proof/ed25519.ts'
import {
  CheckpointNoteError,
  hasSignature,
  readSignatureLines,
  readVerifierKey,
  signatureLine,
  type VerifierKey,
  verifierKeyText,
} from './checkpoint-note.ts'

/** The statement that both keys sign. */
interface HandoverStatement {
  readonly origin: string
  /** The last checkpoint that the log had signed. */
  readonly size: number
  /** 32 bytes, RFC 6962. */
  readonly root: Uint8Array
  /** 32 bytes each. */
  readonly oldKey: Uint8Array
  readonly newKey: Uint8Array
}

/** Signatures of 64 bytes. */
export interface SignedHandover extends HandoverStatement {
  readonly oldSignature: Uint8Array
  readonly newSignature: Uint8Array
}

/** A hand-over that was read, with valid signatures of both keys. */
export interface Handover {
  readonly origin: string
  readonly size: number
  readonly oldKey: VerifierKey
  readonly newKey: VerifierKey
}

const FIRST_LINE = 'object-store checkpoint key handover v1'
const LINES = 6
/** 32 bytes without stray bits. */
const ROOT = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/
const SIZE = /^[1-9]\d{0,15}$/

/** The bytes that both keys sign. */
export function handoverText({ origin, size, root, oldKey, newKey }: HandoverStatement): Buffer {
  const keys = [oldKey, newKey].map((key) => verifierKeyText(origin, key))
  return Buffer.from([FIRST_LINE, origin, size, Buffer.from(root).toString('base64'), ...keys, ''].join('\n'))
}

/** The hand-over as a note (C2SP signed-note). */
export function handoverNote(handover: SignedHandover): string {
  const { origin, oldKey, newKey, oldSignature, newSignature } = handover
  const lines = [signatureLine('log', origin, oldKey, oldSignature), signatureLine('log', origin, newKey, newSignature)]
  return `${handoverText(handover).toString()}\n${lines.join('')}`
}

/** Whether both keys have signed. */
export function isSignedByBoth(handover: SignedHandover): boolean {
  const text = handoverText(handover)
  return (
    isSigned(handover.oldSignature, text, handover.oldKey) && isSigned(handover.newSignature, text, handover.newKey)
  )
}

/** Notes as one file: an empty line is between two of them. */
export function handoverFile(handovers: readonly SignedHandover[]): string {
  return handovers.map(handoverNote).join('\n')
}

/**
 * The hand-overs of a file, in its order. An empty file has none.
 * @throws CheckpointNoteError for another form, and for a hand-over that is not signed by both of its keys
 */
export function readHandovers(file: string): Handover[] {
  if (file === '') return []
  const parts = file.split('\n\n')
  if (parts.length % 2 !== 0 || !file.endsWith('\n')) throw new CheckpointNoteError('the file is not one of hand-overs')
  const notes = Array.from({ length: parts.length / 2 }, (_, at) => parts.slice(2 * at, 2 * at + 2))
  return notes.map(([text = '', signed = '']) => readHandover(`${text}\n`, signed.replace(/\n?$/, '\n')))
}

function readHandover(text: string, signed: string): Handover {
  const lines = text.slice(0, -1).split('\n')
  const [first, origin = '', size = '', root = '', before = '', after = ''] = lines
  const isForm = first === FIRST_LINE && lines.length === LINES && ROOT.test(root)
  if (!isForm || !SIZE.test(size) || !Number.isSafeInteger(Number(size))) {
    throw new CheckpointNoteError('the file is not one of hand-overs')
  }
  const [oldKey, newKey] = [readVerifierKey(before), readVerifierKey(after)]
  if (oldKey.name !== origin || newKey.name !== origin) {
    throw new CheckpointNoteError(`a hand-over of ${origin} has a key of another log`)
  }
  const signatures = readSignatureLines(signed)
  for (const [which, key] of [['old', oldKey] as const, ['new', newKey] as const]) {
    if (!hasSignature({ text: Buffer.from(text), signatures }, key)) {
      throw new CheckpointNoteError(`a hand-over of ${origin} is not signed by the ${which} key`)
    }
  }
  return { origin, size: Number(size), oldKey, newKey }
}

/**
 * The key that signs checkpoints of a size, given a trusted key: follows its hand-overs as far as they cover less. A
 * key signs nothing beyond the checkpoint at which it handed over.
 * @throws CheckpointNoteError when a key handed over twice or got the log back: the key has leaked
 */
export function keyForSize(trusted: VerifierKey, size: number, handovers: readonly Handover[]): VerifierKey {
  const own = handovers.filter(({ origin }) => origin === trusted.name)
  let key = trusted
  const had = new Set([key.keyId])
  for (let found = next(own, key); found !== undefined; found = next(own, key)) {
    if (had.has(found.newKey.keyId))
      throw new CheckpointNoteError(`a hand-over goes back to the key ${found.newKey.keyId}`)
    had.add(found.newKey.keyId)
    if (found.size >= size) return key
    key = found.newKey
  }
  return key
}

function next(handovers: readonly Handover[], key: VerifierKey): Handover | undefined {
  // A key's first hand-over ends its signatures, so the file's order does not matter.
  const own = handovers.filter(({ oldKey }) => oldKey.publicKey.equals(key.publicKey))
  const [found, ...others] = own.toSorted((one, other) => one.size - other.size)
  if (others.some((other) => found?.newKey.publicKey.equals(other.newKey.publicKey) === false)) {
    throw new CheckpointNoteError(`the key ${key.keyId} handed over to two keys: somebody else has it`)
  }
  return found
}
