import type { CheckpointEntry } from './checkpoint-entry.ts'
import type { HandoverEntry } from './handover-entry.ts'

/** Follows which key signs the log: the first one, until it hands over. */
export class KeyInForce {
  /** Hand-overs that hold. */
  readonly handovers: HandoverEntry[]
  readonly #isWhole: boolean
  #key: string | undefined
  #generation: number | undefined
  readonly #had = new Set<string>()

  /** @param isWhole whether the journal is read from its beginning; `handovers`: that hold, of before */
  constructor(isWhole: boolean, handovers: readonly HandoverEntry[] = []) {
    this.handovers = [...handovers]
    this.#isWhole = isWhole
    if (isWhole) this.#generation = 0
  }

  /** Takes a key from elsewhere for the first one, if none was met yet. */
  expect(key: string): void {
    if (this.#key === undefined) this.#take(key)
  }

  /** The fault of a checkpoint's key, if any. */
  sign({ publicKey }: CheckpointEntry): string | undefined {
    const expected = this.#key ?? publicKey
    this.#take(publicKey)
    if (publicKey === expected) return undefined
    return `it has the key ${publicKey}, and nothing handed over to it from ${expected}`
  }

  /** The fault of a hand-over, if any. @param last the checkpoint before it */
  handOver(entry: HandoverEntry, last: CheckpointEntry | undefined): string | undefined {
    const fault = this.#faultOf(entry, last)
    this.#take(entry.oldKey)
    this.#take(entry.newKey)
    this.#generation = entry.generation
    if (fault === undefined) this.handovers.push(entry)
    return fault
  }

  #faultOf(entry: HandoverEntry, last: CheckpointEntry | undefined): string | undefined {
    const { origin, generation, oldKey, newKey, size, root, isSignedByOld, isSignedByNew } = entry
    if (!isSignedByOld || !isSignedByNew) return `it is not signed by the ${isSignedByOld ? 'new' : 'old'} key`
    if (this.#key !== undefined && this.#key !== oldKey) return `it is from ${oldKey}, and the key is ${this.#key}`
    if (this.#had.has(newKey) || newKey === oldKey) return `it goes back to ${newKey}, a key of before`
    if (this.#generation !== undefined && generation !== this.#generation + 1) {
      return `it is of generation ${generation}, and the one before of ${this.#generation}`
    }
    if (last === undefined) return this.#isWhole ? 'there is no checkpoint before it' : undefined
    if (origin !== last.origin) return `it is for ${origin}, and the log is ${last.origin}`
    if (size !== last.size || root !== last.root)
      return `it does not name the checkpoint of ${last.size} records before it`
    return undefined
  }

  #take(key: string): void {
    this.#key = key
    this.#had.add(key)
  }
}
