import type { BucketId } from '../../engine/brands.ts'
import { BusyError, type Share, Shares } from '../../engine/shares/shares.ts'
import { threadTurns, type Turns } from '../../projections/audit/turns.ts'
import { ClientGoneError, type HttpRequest } from '../http/exchange.ts'
import type { ManagementIdentity } from './access/authenticate.ts'

/** The request behind long work: shares are counted by its credential. */
interface HeavyRequest {
  readonly http: Pick<HttpRequest, 'onAborted'>
  readonly identity: Pick<ManagementIdentity, 'credentialId'>
}

/** A place of one long-running request, and the turns of its credential. */
export class HeavyPlace implements Turns {
  readonly #turns: Turns
  #share: Share | undefined
  #isGone = false
  #isEvicted = false

  constructor({ http, identity }: HeavyRequest) {
    this.#turns = threadTurns.of(identity.credentialId)
    http.onAborted(() => {
      this.#isGone = true
    })
  }

  /** Called once, before the work starts. */
  enter(share: Share): void {
    this.#share = share
  }

  get isOver(): boolean {
    return this.#turns.isOver
  }

  /**
   * Gives precedence to credentials with fewer places, then yields to other requests of the thread.
   * @throws ClientGoneError when the client has disconnected
   * @throws BusyError when the place was given to another credential
   */
  async next(): Promise<void> {
    await this.#share?.turn()
    await this.#turns.next()
    this.#requireWanted()
  }

  /** As `next`, for short steps: yields to other requests only when the turn is over. */
  async pause(): Promise<void> {
    await this.#share?.turn()
    if (this.isOver) await this.#turns.next()
    this.#requireWanted()
  }

  /** @throws ClientGoneError when the client has disconnected */
  requireClient(): void {
    if (this.#isGone) throw new ClientGoneError('the client has gone')
  }

  /** Gives the place to another credential: the work ends at its next pause. */
  evict(): void {
    this.#isEvicted = true
  }

  /** Releases the place; calling again does nothing. */
  leave(): void {
    this.#share?.leave()
  }

  #requireWanted(): void {
    if (this.#isEvicted) throw new BusyError()
    this.requireClient()
  }
}

/**
 * The long work of the management plane. Each kind has its own limit, shared between credentials, because verifying a
 * bucket may take hours. Work runs in short turns and stops when its client disconnects. See decision 0044 and
 * 0171.
 */
export class HeavyWork {
  /** Kinds of work that queue for a place. */
  readonly #awaited = {
    scan: new Shares('scans'),
    export: new Shares('exports'),
    'verify-object': new Shares('object-verifications'),
  }
  readonly #verifications = new Shares('bucket-verifications')
  readonly #verifiedBuckets = new Set<BucketId>()

  /** @throws BusyError when too much of the kind runs and waits */
  async enter(kind: 'scan' | 'export' | 'verify-object', request: HeavyRequest): Promise<HeavyPlace> {
    const place = new HeavyPlace(request)
    place.enter(await this.#awaited[kind].wait(request.identity.credentialId))
    return place
  }

  /**
   * A place to verify a bucket, which may take hours. When all are taken, the oldest verification of the credential
   * with the most places ends, unless this credential has as many.
   * @throws BusyError
   */
  enterVerification(request: HeavyRequest): HeavyPlace {
    const place = new HeavyPlace(request)
    const share = this.#verifications.take(request.identity.credentialId, 1, () => place.evict())
    if (share === undefined) throw new BusyError()
    place.enter(share)
    return place
  }

  /** Runs work in its own place. @throws BusyError, and what the work throws */
  async run<T>(
    kind: 'scan' | 'export' | 'verify-object',
    request: HeavyRequest,
    work: (place: HeavyPlace) => Promise<T>,
  ): Promise<T> {
    const place = await this.enter(kind, request)
    try {
      place.requireClient()
      return await work(place)
    } finally {
      place.leave()
    }
  }

  /** Claims the one verification of a bucket; false if it is running. */
  claimBucket(bucket: BucketId): boolean {
    if (this.#verifiedBuckets.has(bucket)) return false
    this.#verifiedBuckets.add(bucket)
    return true
  }

  releaseBucket(bucket: BucketId): void {
    this.#verifiedBuckets.delete(bucket)
  }
}
