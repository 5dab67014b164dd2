import type { BodySource } from '../../http/exchange.ts'
import type { HeavyPlace } from '../heavy-work.ts'
import type { BucketVerification } from './verify-bucket.ts'

/** How often a line of progress is sent. */
const PROGRESS_MILLISECONDS = 2000

/** The error with which a started answer ends. */
interface StreamError {
  readonly code: string
  readonly message: string
}

/**
 * The body of an answer that lasts as long as the verification of a bucket: one JSON object, whose member `progress`
 * gets an element on its own line every two seconds, so that the client sees progress and the connection stays active.
 */
export class VerificationSource implements BodySource {
  readonly length = undefined
  readonly #verification: BucketVerification
  readonly #steps: AsyncGenerator<undefined, void>
  readonly #place: HeavyPlace
  readonly #failed: (error: unknown) => StreamError
  readonly #closed: () => void
  #text: string
  #first: Buffer | undefined
  #hasProgress = false
  #isOver = false

  private constructor(
    bucket: string,
    verification: BucketVerification,
    place: HeavyPlace,
    failed: (error: unknown) => StreamError,
    closed: () => void,
  ) {
    this.#verification = verification
    this.#steps = verification.run()
    this.#place = place
    this.#failed = failed
    this.#closed = closed
    this.#text = `{"bucket":${JSON.stringify(bucket)},"progress":[`
  }

  /**
   * Verifies up to the first line of progress, so that an early failure can be answered with an error status, and a
   * short verification in one piece.
   * @param failed translates and logs a later failure; the answer reports it, and where to continue
   * @param closed called once, also when this throws
   * @throws ClientGoneError, UnreadableVersionError
   */
  static async open(
    bucket: string,
    verification: BucketVerification,
    place: HeavyPlace,
    failed: (error: unknown) => StreamError,
    closed: () => void,
  ): Promise<VerificationSource | Buffer> {
    const source = new VerificationSource(bucket, verification, place, failed, closed)
    try {
      const first = await source.#read()
      source.#first = first
      if (!source.#isOver) return source
      source.close()
      return first
    } catch (error) {
      source.close()
      throw error
    }
  }

  next(): Promise<Buffer | undefined> | Buffer | undefined {
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) return first
    return this.#isOver ? undefined : this.#read().catch((error: unknown) => this.#end(this.#failed(error)))
  }

  close(): void {
    this.#isOver = true
    void this.#steps.return()
    this.#closed()
  }

  /** The next line of progress, or the end of the body. */
  async #read(): Promise<Buffer> {
    const until = performance.now() + PROGRESS_MILLISECONDS
    while (performance.now() < until) {
      await this.#place.pause()
      const step = await this.#steps.next()
      if (step.done === true) return this.#end(null)
    }
    const { examined, bytes, damaged } = this.#verification.counts
    const line = `${this.#hasProgress ? ',' : ''}\n${JSON.stringify({ examined, bytes, damaged })}`
    this.#hasProgress = true
    return this.#piece(line)
  }

  #end(error: StreamError | null): Buffer {
    this.#isOver = true
    const { counts, damaged, isComplete, last } = this.#verification
    const rest = {
      ...counts,
      damaged_objects: damaged,
      complete: isComplete,
      next_after: isComplete ? null : (last?.key ?? null),
      next_after_version_id: isComplete ? null : (last?.versionId ?? null),
      error,
    }
    return this.#piece(`${this.#hasProgress ? '\n' : ''}],${JSON.stringify(rest).slice(1)}`)
  }

  #piece(text: string): Buffer {
    const piece = Buffer.from(this.#text + text)
    this.#text = ''
    return piece
  }
}
