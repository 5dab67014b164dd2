/** A client that trusts the first key of a log, and keeps the last checkpoint that it was shown. */
import {
  type CheckpointStatement,
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  verifierKeyText,
} from '../../../engine/checkpoints/checkpoint-note.ts'
import { keyForSize, readHandovers } from '../../../engine/checkpoints/key-handover.ts'
import { LOG_HASHING } from '../../../engine/checkpoints/tree-hashing.ts'
import { readConsistencyProof } from '../../../engine/checkpoints/tree-proofs.ts'
import { isConsistent } from '../../../engine/checkpoints/tree-shape.ts'
import { API } from '../../../planes/management/routing/define-route.ts'

/** Asks the management plane. */
export type Ask = (target: string) => Promise<{ readonly status: number; readonly text: string }>

/** Trees that are being made again, after a start. */
const NOT_READY = 'TREES_NOT_READY'

export class CheckpointClient {
  /** By the origin of the log. */
  readonly #kept = new Map<string, CheckpointStatement>()
  /** Asked once, when there is a checkpoint: the key that signed the first one. */
  readonly #firstKey: () => Uint8Array
  #first: Uint8Array | undefined
  /** Sizes that it was shown, by the origin of the log. */
  readonly shown = new Map<string, Set<number>>()

  constructor(firstKey: () => Uint8Array) {
    this.#firstKey = firstKey
  }

  /**
   * Asks for the last checkpoint, and for the proof that it extends the one that it has.
   * @returns whether there was one
   * @throws Error when its signature or the proof is wrong, or an older one is shown than before
   */
  async look(ask: Ask): Promise<boolean> {
    const { status, text } = await ask(`${API}/transparency/checkpoint`)
    if (status === 404 && this.#kept.size === 0) return false
    if (status !== 200) throw new Error(`the checkpoint is answered ${status}: ${text}`)
    const note = readCheckpointNote(text)
    const { origin, size } = note
    const handovers = readHandovers((await asked(ask, `${API}/transparency/key/handovers`)) ?? '')
    this.#first ??= this.#firstKey()
    const first = readVerifierKey(verifierKeyText(origin, this.#first))
    if (!isSignedBy(note, keyForSize(first, size, handovers))) throw new Error(`nobody who may signed ${text}`)
    const sizes = this.shown.get(origin) ?? new Set<number>()
    this.shown.set(origin, sizes.add(size))
    const kept = this.#kept.get(origin)
    this.#kept.set(origin, note)
    if (kept !== undefined) await requireExtended(ask, kept, note)
    return true
  }
}

async function requireExtended(ask: Ask, old: CheckpointStatement, next: CheckpointStatement): Promise<void> {
  const what = `the checkpoint of ${next.size} records after that of ${old.size}`
  if (next.size < old.size) throw new Error(`${what} was shown`)
  if (next.size === old.size) {
    if (Buffer.compare(next.root, old.root) !== 0) throw new Error(`${what} has another root`)
    return
  }
  const proof = await asked(ask, `${API}/transparency/proof/consistency?old=${old.size}&size=${next.size}`)
  if (proof === undefined) return
  const { number, path } = readConsistencyProof(proof)
  if (number !== old.size || !isConsistent(LOG_HASHING, old, next, path)) throw new Error(`${what} does not extend it`)
}

/** @returns undefined while the trees are being made */
async function asked(ask: Ask, target: string): Promise<string | undefined> {
  const { status, text } = await ask(target)
  if (status === 200) return text
  if (text.includes(NOT_READY)) return undefined
  throw new Error(`${target}: ${status} ${text}`)
}
