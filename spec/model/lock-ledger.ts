/**
 * Every lock that was seen on the wire, kept apart from the rules of the model: a version that was shown under a hold or a
 * retention must stay, byte for byte, until somebody who may has lifted the lock or its time has passed (W4, W6).
 */
import { hash } from 'node:crypto'
import type { WireAnswer } from '../support/wire-client.ts'
import { headerOf, type ModelRequest } from './expectation.ts'

interface Seen {
  /** Undefined where the bytes were never read. */
  readonly digest: string | undefined
  readonly hold: boolean
  readonly mode: string | undefined
  readonly until: number
  /** The comparison in which it was last read. */
  comparison: number
}

export class LockLedger {
  /** By `/bucket/key?versionId=id`, as reads of a version name it. */
  readonly #seen = new Map<string, Seen>()
  #comparison = 0

  /** Locks that are in force as far as this ledger knows. */
  get size(): number {
    return this.#seen.size
  }

  /**
   * Takes note of a request and its answer.
   * @throws Error when a locked version has changed, or a compliance lock was weakened
   */
  saw(request: ModelRequest, answer: WireAnswer | undefined, now: number): void {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && answer !== undefined) this.#read(request, answer, now)
    else if (answer === undefined || answer.status < 300) this.#mayRelease(request)
  }

  beginComparison(): void {
    this.#comparison += 1
  }

  /** Ends a comparison, in which every version that is there was read. */
  endComparison(now: number): void {
    for (const [name, seen] of this.#seen) {
      if (!isInForce(seen, now)) this.#seen.delete(name)
      else if (seen.comparison !== this.#comparison) throw new Error(`${name} was locked and is not there any more`)
    }
  }

  #read({ method, target }: ModelRequest, answer: WireAnswer, now: number): void {
    if (!target.includes('?versionId=')) return
    const before = this.#seen.get(target)
    const isHeld = before !== undefined && isInForce(before, now)
    if (answer.status !== 200) {
      if (isHeld && answer.status !== 206 && answer.status !== 304 && answer.status !== 412 && answer.status !== 416) {
        throw new Error(`${target} was locked and is answered ${answer.status}`)
      }
      return
    }
    const hold = headerOf(answer, 'x-amz-object-lock-legal-hold') === 'ON'
    const mode = headerOf(answer, 'x-amz-object-lock-mode')
    const until = Date.parse(headerOf(answer, 'x-amz-object-lock-retain-until-date') ?? '') || 0
    const digest = method === 'HEAD' ? before?.digest : hash('sha256', answer.body, 'hex')
    if (isHeld && before.digest !== undefined && digest !== before.digest)
      throw new Error(`${target} was locked and has other bytes`)
    if (
      isHeld &&
      before.mode === 'COMPLIANCE' &&
      now < before.until &&
      (mode !== 'COMPLIANCE' || until < before.until)
    ) {
      throw new Error(`${target}: a compliance retention was weakened`)
    }
    this.#seen.set(target, { digest, hold, mode, until, comparison: this.#comparison })
  }

  /** What only a holder of the right may do, and did: from here on the next read tells. Compliance stays. */
  #mayRelease({ method, target, headers = [], body }: ModelRequest): void {
    const lifts = method === 'PUT' && target.includes('?legal-hold') && typeof body === 'string' && body.includes('OFF')
    const bypasses = headers.some(([name]) => name === 'x-amz-bypass-governance-retention')
    if (!lifts && !bypasses) return
    for (const [name, seen] of this.#seen) {
      // A batch has the keys in its body; which of them it released, the next read tells.
      const isOfBatch = target.endsWith('?delete=') && name.startsWith(`${target.slice(0, -'?delete='.length)}/`)
      if (!isSameKey(name, target) && !isOfBatch) continue
      const stays = seen.mode === 'COMPLIANCE' ? seen : { ...seen, mode: undefined, until: 0 }
      this.#seen.set(name, { ...stays, hold: lifts ? false : seen.hold })
    }
  }
}

function isInForce({ hold, mode, until }: Seen, now: number): boolean {
  return hold || (mode !== undefined && now < until)
}

function isSameKey(left: string, right: string): boolean {
  return left.split('?')[0] === right.split('?')[0]
}
