import { CheckpointNoteError, readSignatureLines } from '../../engine/checkpoints/checkpoint-note.ts'
import { type Cosignature, cosignatureOf } from '../../engine/checkpoints/cosignature.ts'
import { consistencyProofText } from '../../engine/checkpoints/tree-proofs.ts'
import type { PolicyWitness } from '../../engine/checkpoints/witness-policy.ts'
import { timedPost } from './bounded-post.ts'

/** A checkpoint that a witness is asked to cosign (C2SP tlog-witness). */
interface WitnessQuestion {
  /** The size that the witness presumably cosigned last. */
  readonly old: number
  readonly path: readonly Uint8Array[]
  /** The checkpoint, signed by the log. */
  readonly note: string
}

/** Its cosignature, or the size that it cosigned last when that is not `old`. */
export type WitnessAnswer = { readonly cosignature: Cosignature } | { readonly size: number }

/** A witness did not cosign. */
export class WitnessError extends Error {
  override readonly name = 'WitnessError'
  /** Of the answer; 200 where a wrong cosignature was in it. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }

  /** Whether it stays so until an operator does something. */
  get isLasting(): boolean {
    return [403, 404, 422].includes(this.status)
  }
}

const ANSWER_BYTES_MAXIMUM = 16 * 1024
const SIZE_TYPE = 'text/x.tlog.size'
const REASONS: Readonly<Record<number, string>> = {
  403: 'it does not accept the signature of this log: it may have another key of it',
  404: 'it does not know this log: its operator must add the key that "checkpoint key" prints',
  422: 'it has seen another tree: the proof does not lead to what it cosigned',
}

/**
 * Asks a witness once.
 * @param limits `send`: what the request goes out by
 * @throws WitnessError, or the error of the connection
 */
export async function askWitness(
  { url, key }: PolicyWitness,
  { old, path, note }: WitnessQuestion,
  limits: { readonly timeoutMilliseconds: number; readonly stop: AbortSignal; readonly send: typeof timedPost },
): Promise<WitnessAnswer> {
  const { timeoutMilliseconds, stop, send } = limits
  const address = new URL(`${(url as string).replace(/\/+$/, '')}/add-checkpoint`)
  const { status, contentType, body } = await send(address, Buffer.from(consistencyProofText(old, path, note)), {
    timeoutMilliseconds,
    stop,
    contentType: 'text/plain; charset=utf-8',
    bytesMaximum: ANSWER_BYTES_MAXIMUM,
  })
  if (status === 409 && contentType?.split(';')[0] === SIZE_TYPE) return { size: sizeOf(body.toString()) }
  if (status !== 200) throw new WitnessError(status, REASONS[status] ?? `it answered with HTTP ${status}`)
  const text = Buffer.from(note.slice(0, note.lastIndexOf('\n\n') + 1))
  const cosignature = cosignatureOf(text, linesOf(body.toString()), key)
  if (cosignature === undefined) throw new WitnessError(200, 'its answer has no valid cosignature of its key')
  return { cosignature }
}

function sizeOf(text: string): number {
  const size = /^(?:0|[1-9]\d{0,15})\n$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(size)) throw new WitnessError(409, 'its answer has no size')
  return size
}

function linesOf(text: string): ReturnType<typeof readSignatureLines> {
  try {
    return readSignatureLines(text)
  } catch (error) {
    if (!(error instanceof CheckpointNoteError)) throw error
    throw new WitnessError(200, `its answer has no signature lines: ${error.message}`)
  }
}
