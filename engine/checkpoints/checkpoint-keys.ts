import type { CheckpointState, HandoverState } from './state.ts'
import { handoverText } from './key-handover.ts'
import { SigningKey } from '../keys/signing-key.ts'
import { checkpointGenerationSeed, type StoreKeys } from '../keys/store-keys.ts'

/** The maximum number of hand-overs, and some changes of the master key. */
const GENERATIONS_LOOKED_AT = 120

/** The seeds that a master key gives. */
type Seeds = Pick<StoreKeys, 'checkpointSigning' | 'checkpointGenerations'>

/** The log is signed with a key that this store cannot make. */
class CheckpointKeyError extends Error {
  override readonly name = 'CheckpointKeyError'
}

/** Which key signs: the new key of the last hand-over, or without one the key of the last checkpoint. */
interface InForce {
  readonly last: Pick<CheckpointState, 'publicKey'> | undefined
  readonly handover: Pick<HandoverState, 'newKey' | 'generation'> | undefined
}

/**
 * The keys that sign checkpoints. Generation 0 is the store's first, and each hand-over makes the next; derived from
 * every master key that the store had, since a log keeps its key until it is handed over.
 */
export class CheckpointKeys {
  /** The newest master key first. */
  readonly #seeds: readonly [Seeds, ...Seeds[]]
  #known: { readonly generation: number; readonly key: SigningKey } | undefined

  constructor({ checkpointSigning, checkpointGenerations, earlier }: Seeds & Pick<StoreKeys, 'earlier'>) {
    this.#seeds = [{ checkpointSigning, checkpointGenerations }, ...earlier]
  }

  /** @throws CheckpointKeyError */
  inForce({ last, handover }: InForce): SigningKey {
    const generation = handover?.generation ?? 0
    const publicKey = handover?.newKey ?? last?.publicKey
    if (publicKey === undefined) return this.newest(0)
    if (this.#known?.generation === generation && this.#known.key.publicKey.equals(publicKey)) return this.#known.key
    for (const seeds of this.#seeds) {
      const key = keyOf(seeds, generation)
      if (!key.publicKey.equals(publicKey)) continue
      this.#known = { generation, key }
      return key
    }
    const digits = Buffer.from(publicKey).toString('hex')
    throw new CheckpointKeyError(`the log is signed with the key ${digits}, which this store cannot make`)
  }

  /** Every key that the log can have been handed over to, one after another: to make all takes some milliseconds. */
  *publicKeys(): Generator<Uint8Array> {
    for (let generation = 0; generation <= GENERATIONS_LOOKED_AT; generation += 1) {
      for (const seeds of this.#seeds) yield keyOf(seeds, generation).publicKey
    }
  }

  /** The key of a generation under the newest master key. */
  newest(generation: number): SigningKey {
    return keyOf(this.#seeds[0], generation)
  }

  /**
   * The change for a hand-over from the key in force to the next one. `to`: keys under another master key.
   * @throws CheckpointKeyError
   */
  handOver(
    { last, handover }: { readonly last: CheckpointState; readonly handover: HandoverState | undefined },
    to: CheckpointKeys = this,
  ): Omit<HandoverState, 'sequence'> {
    const generation = (handover?.generation ?? 0) + 1
    const [oldKey, newKey] = [this.inForce({ last, handover }), to.newest(generation)]
    const { origin, size, root } = last
    const keys = { oldKey: Uint8Array.from(oldKey.publicKey), newKey: Uint8Array.from(newKey.publicKey) }
    const statement = { origin, size, root, ...keys }
    const text = handoverText(statement)
    const [oldSignature, newSignature] = [Uint8Array.from(oldKey.sign(text)), Uint8Array.from(newKey.sign(text))]
    return { ...statement, generation, oldSignature, newSignature }
  }
}

function keyOf({ checkpointSigning, checkpointGenerations }: Seeds, generation: number): SigningKey {
  return new SigningKey(
    generation === 0 ? checkpointSigning : checkpointGenerationSeed(checkpointGenerations, generation),
  )
}
