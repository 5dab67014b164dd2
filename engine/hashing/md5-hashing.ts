import { type Lane, LANES, Md5Lanes, Md5State } from './md5-lanes.ts'
import { BLOCK_BYTES, STEP_BYTES, VECTOR_LANES } from './md5-module.ts'
import type { Hashing } from './sha256-hashing.ts'

/** With fewer bodies a turn waits a little for more: the vectors are the fuller the less it costs. */
const BODIES_WORTHWHILE = VECTOR_LANES
/** How long. A sender that is fast fills the next pieces meanwhile. */
const LINGER_MILLISECONDS = 5

/** Pending bytes of a body, and the callback once they are hashed. */
interface Waiting {
  readonly bytes: Uint8Array
  readonly taken: () => void
}

class Md5Body implements Lane {
  readonly state = new Md5State()
  readonly waiting: Waiting[] = []
  /** Of the first that waits, how much is hashed. */
  at = 0
  /** The end of a body that is not whole blocks. */
  rest: Uint8Array = new Uint8Array(0)
  ended: ((digest: Uint8Array) => void) | undefined

  get bytes(): Uint8Array {
    return (this.waiting[0] as Waiting).bytes
  }

  /** Whether its sender may have to wait for it, or it has begun. */
  get isUrgent(): boolean {
    return this.waiting.length > 1 || this.at > 0 || this.ended !== undefined
  }

  /** Whole blocks that can be hashed now, in bytes. */
  get ready(): number {
    const left = this.bytes.length - this.at
    return left - (left % BLOCK_BYTES)
  }
}

/**
 * MD5 of many bodies: the pending bytes of up to eight are hashed in parallel lanes, a step of each in a turn of the
 * event loop. Bodies without a turn come first in the next one.
 */
export class Md5Hashing implements Hashing<Md5Body> {
  readonly #lanes = new Md5Lanes()
  /** Bodies of which whole blocks wait. */
  #queue: Md5Body[] = []
  #scheduled = false
  #lingering: NodeJS.Timeout | undefined

  begin(): Md5Body {
    return new Md5Body()
  }

  update(body: Md5Body, bytes: Uint8Array, taken: () => void): void {
    if (body.rest.length > 0) throw new Error('only the last bytes of a body may be no whole blocks')
    body.waiting.push({ bytes, taken })
    if (body.waiting.length === 1) this.#goOn(body)
    else this.#schedule()
  }

  digest(body: Md5Body, done: (digest: Uint8Array) => void): void {
    body.ended = done
    if (body.waiting.length === 0) this.#end(body)
    else this.#schedule()
  }

  /** Puts a body into the queue, after what of it is done is given back. */
  #goOn(body: Md5Body): void {
    for (let first = body.waiting[0]; first !== undefined && body.ready === 0; first = body.waiting[0]) {
      if (body.at < first.bytes.length) body.rest = first.bytes.slice(body.at)
      body.at = 0
      body.waiting.shift()
      first.taken()
    }
    if (body.waiting.length > 0) this.#queue.push(body)
    else if (body.ended !== undefined) this.#end(body)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#queue.length === 0) return
    if (this.#queue.length >= BODIES_WORTHWHILE || this.#queue.some(({ isUrgent }) => isUrgent)) {
      clearTimeout(this.#lingering)
      this.#lingering = undefined
      this.#scheduled = true
      setImmediate(() => this.#step())
      return
    }
    this.#lingering ??= setTimeout(() => this.#step(), LINGER_MILLISECONDS)
  }

  #step(): void {
    this.#scheduled = false
    this.#lingering = undefined
    const bodies = this.#queue.splice(0, LANES)
    const length = bodies.reduce((least, { ready }) => Math.min(least, ready), STEP_BYTES)
    this.#lanes.update(bodies, length)
    for (const body of bodies) {
      body.at += length
      this.#goOn(body)
    }
  }

  #end(body: Md5Body): void {
    body.ended?.(Uint8Array.from(this.#lanes.digest(body.state, body.rest)))
  }
}
