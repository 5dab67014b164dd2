/** This store as a witness: it cosigns the checkpoints of other logs (C2SP tlog-witness). */
import { hash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import type { Milliseconds } from '../../../engine/brands.ts'
import { DomainError } from '../../../engine/errors.ts'
import type { SigningKey } from '../../../engine/keys/signing-key.ts'
import type { WitnessedLog } from '../../../engine/checkpoints/state.ts'
import {
  CheckpointNoteError,
  isSignedBy,
  readCheckpointNote,
  signaturesOf,
  type VerifierKey,
} from '../../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureLine, cosignedMessage, cosignerKeyText } from '../../../engine/checkpoints/cosignature.ts'
import { LOG_HASHING } from '../../../engine/checkpoints/tree-hashing.ts'
import { readConsistencyProof } from '../../../engine/checkpoints/tree-proofs.ts'
import { isConsistent } from '../../../engine/checkpoints/tree-shape.ts'
import type { CheckpointReader } from '../../../projections/checkpoints/reader.ts'
import type { RequestJournal } from '../../exchange/request-journal.ts'
import { ManagementError } from '../errors.ts'

/** A checkpoint with the 16 signatures that C2SP wants accepted, of the longest kind, and a proof. */
export const SUBMISSION_BYTES_MAXIMUM = 64 * 1024
/** An unchanged checkpoint is signed again after this time, since the time in a cosignature proves its freshness. */
const KEPT_SECONDS = 60
/** Root of the empty tree (RFC 6962 section 2.1). */
const EMPTY_ROOT = hash('sha256', Buffer.alloc(0), 'buffer')

/** A parsed submission. */
interface Submission extends ReturnType<typeof readCheckpointNote> {
  readonly old: number
  readonly path: readonly Buffer[]
}

/** Result of a submission: a line to add to the checkpoint, or the old size that the proof must have. */
type Examined = { readonly line: string } | { readonly conflict: number }

interface WitnessParts {
  /** Unique among witnesses: it is part of every cosignature. */
  readonly name: string
  readonly key: SigningKey
  /** Keys of the witnessed logs; a log can have several. */
  readonly logs: readonly VerifierKey[]
  readonly reader: Pick<CheckpointReader, 'witnessed' | 'allWitnessed'>
  readonly clock: () => Milliseconds
}

export class Witness {
  readonly #parts: WitnessParts
  /** By log, the cosignature of its last checkpoint, returned when the log submits it again after a lost answer. */
  readonly #last = new Map<string, { readonly text: Buffer; readonly line: string; readonly seconds: number }>()

  constructor(parts: WitnessParts) {
    this.#parts = parts
  }

  /** Whether any log is witnessed. */
  get isOn(): boolean {
    return this.#parts.logs.length > 0
  }

  get keyText(): string {
    return cosignerKeyText(this.#parts.name, this.#parts.key.publicKey)
  }

  /** Every log that this store has ever witnessed; `isCurrent`: it still does. */
  witnessed(): (WitnessedLog & { readonly isCurrent: boolean })[] {
    const isCurrent = (origin: string) => this.#parts.logs.some(({ name }) => name === origin)
    return this.#parts.reader.allWitnessed().map((log) => ({ ...log, isCurrent: isCurrent(log.origin) }))
  }

  /**
   * Checks a submission in the order of C2SP tlog-witness, records it, and cosigns it. The record is durable before the
   * cosignature is returned, and the engine compares it with the last record, so one of two concurrent submissions gets
   * a conflict.
   * @throws ManagementError
   */
  async examine(body: Buffer, journal: RequestJournal): Promise<Examined> {
    const submission = readSubmission(body)
    const { origin, size, root, old, text } = submission
    const { publicKey } = this.#signerOf(submission)
    if (old > size) throw new ManagementError('INVALID_REQUEST', 'the old size is greater than that of the checkpoint')
    const last = this.#parts.reader.witnessed(origin)
    if (old !== (last?.size ?? 0)) return { conflict: last?.size ?? 0 }
    requireConsistent(submission, last)
    const seconds = Math.floor(this.#parts.clock() / 1000)
    const kept = this.#last.get(origin)
    const isFresh = kept !== undefined && Math.abs(seconds - kept.seconds) < KEPT_SECONDS
    if (size === old && isFresh && kept.text.equals(text)) return { line: kept.line }
    const change = { origin, size, root, publicKey, seconds }
    if (size > old && !(await recorded(journal, change, old))) {
      return { conflict: this.#parts.reader.witnessed(origin)?.size ?? 0 }
    }
    const { name, key } = this.#parts
    const signature = key.sign(cosignedMessage(seconds, text))
    const line = cosignatureLine(name, key.publicKey, { seconds, signature })
    this.#last.set(origin, { text, line, seconds })
    return { line }
  }

  /** The key of the log that signed. @throws ManagementError */
  #signerOf(submission: Submission): VerifierKey {
    const keys = this.#parts.logs.filter(({ name }) => name === submission.origin)
    if (keys.length === 0) throw new ManagementError('LOG_NOT_WITNESSED')
    const named = keys.filter((key) => signaturesOf(submission.signatures, key).length > 0)
    const [signer] = named
    if (signer === undefined || !named.every((key) => isSignedBy(submission, key))) {
      throw new ManagementError('LOG_SIGNATURE_INVALID')
    }
    return signer
  }
}

/** @throws ManagementError INVALID_REQUEST */
function readSubmission(body: Buffer): Submission {
  try {
    if (!isUtf8(body)) throw new CheckpointNoteError('the text is not UTF-8')
    const { number, path, note } = readConsistencyProof(body.toString())
    return { ...readCheckpointNote(note), old: number, path }
  } catch (error) {
    if (error instanceof CheckpointNoteError) throw new ManagementError('INVALID_REQUEST', error.message)
    throw error
  }
}

/**
 * Requires that the tree extends the last one; the first tree needs no proof. @throws ManagementError
 * CONSISTENCY_REFUSED
 */
function requireConsistent({ old, size, root, path }: Submission, last: WitnessedLog | undefined): void {
  const isEmpty = size > 0 || Buffer.compare(root, EMPTY_ROOT) === 0
  const holds =
    last === undefined ? path.length === 0 && isEmpty : isConsistent(LOG_HASHING, last, { size, root }, path)
  if (!holds) {
    const what = size === old ? 'has another root than the one' : 'is not shown to begin with the one'
    throw new ManagementError(
      'CONSISTENCY_REFUSED',
      `the checkpoint of ${size} entries ${what} of ${old} that was seen`,
    )
  }
}

/** False when another submission was recorded since. */
async function recorded(
  journal: RequestJournal,
  cosigned: Omit<WitnessedLog, 'sequence' | 'first'>,
  after: number,
): Promise<boolean> {
  try {
    const command = { kind: 'cosign-checkpoint', cosigned, after } as const
    await journal.executeAsSystem('checkpoints', 'checkpoint.cosigned', command)
    return true
  } catch (error) {
    if (error instanceof DomainError && error.code === 'checkpoint-not-next') return false
    throw error
  }
}
