/**
 * Cosignatures of witnesses under checkpoints: C2SP tlog-cosignature, the form with Ed25519. A witness states that at a
 * time this was the largest tree of the log that it had seen, and that it extends all trees that it saw before.
 */
import { isSigned } from '../proof/ed25519.ts'
import {
  type NoteSignature,
  readVerifierKey,
  signatureLine,
  signaturesOf,
  type VerifierKey,
  verifierKeyText,
} from './checkpoint-note.ts'

/** A cosignature without the key that made it. */
export interface Cosignature {
  /** Since 1970, by the clock of the witness; above 0. */
  readonly seconds: number
  /** 64 bytes, of `cosignedMessage`. */
  readonly signature: Uint8Array
}

const TIME_BYTES = 8
const SIGNATURE_BYTES = 64

/** The bytes that a witness signs. `text`: the checkpoint's, which ends with a line feed and has no signatures. */
export function cosignedMessage(seconds: number, text: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`cosignature/v1\ntime ${seconds}\n`), text])
}

/** The cosignature's line under the checkpoint, with its line feed. */
export function cosignatureLine(name: string, publicKey: Uint8Array, { seconds, signature }: Cosignature): string {
  const time = Buffer.alloc(TIME_BYTES)
  time.writeBigUInt64BE(BigInt(seconds))
  return signatureLine('witness', name, publicKey, Buffer.concat([time, signature]))
}

/** The key of a witness as verifiers keep it: its vkey. */
export function cosignerKeyText(name: string, publicKey: Uint8Array): string {
  return verifierKeyText(name, publicKey, 'witness')
}

/** Reads the vkey of a witness. @throws CheckpointNoteError */
export function readCosignerKey(text: string): VerifierKey {
  return readVerifierKey(text, 'witness')
}

/**
 * The cosignature of a witness under a checkpoint, the earliest if there are several; undefined without one. As with
 * the signatures of logs, other keys are ignored, and a false one of this key counts against all.
 * @param signatures of the note, or from `readSignatureLines` over the answer of the witness
 */
export function cosignatureOf(
  text: Uint8Array,
  signatures: readonly NoteSignature[],
  key: VerifierKey,
): Cosignature | undefined {
  const made = signaturesOf(signatures, key).map((bytes) => readCosignature(bytes))
  const hold = made.filter(
    (one) => one !== undefined && isSigned(one.signature, cosignedMessage(one.seconds, text), key.publicKey),
  ) as Cosignature[]
  return hold.length === made.length ? hold.toSorted((one, other) => one.seconds - other.seconds)[0] : undefined
}

/** Undefined for other lengths, for the time 0, which has no meaning, and for times beyond 2^53 seconds. */
function readCosignature(bytes: Buffer): Cosignature | undefined {
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined
  const seconds = Number(bytes.readBigUInt64BE())
  return Number.isSafeInteger(seconds) && seconds > 0 ? { seconds, signature: bytes.subarray(TIME_BYTES) } : undefined
}
