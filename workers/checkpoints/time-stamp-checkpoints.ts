import { Backoff, REMOTE_BACKOFF } from '../../engine/shares/backoff.ts'
import { randomBytes } from 'node:crypto'
import { microsecondsOf, type Milliseconds } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import { RECEIPT_BYTES_MAXIMUM } from '../../engine/events/names.ts'
import type { CheckpointState, ReceiptState } from '../../engine/checkpoints/state.ts'
import { nonceOf, readTimeStamp, TimeStampError, timeStampRequest } from '../../engine/checkpoints/time-stamp.ts'
import type { CheckpointReader } from '../../projections/checkpoints/reader.ts'
import { systemAudit } from '../system-audit.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'
import { timedPost } from './bounded-post.ts'
import { timeStampRequirement } from './publish-checkpoints.ts'

interface TimeStampOptions {
  readonly mode: 'off' | 'best-effort' | 'required'
  /** Of the authority; undefined where the mode is off. */
  readonly url: string | undefined
  readonly timeoutMilliseconds: number
  /** What requests go out by; by default sockets. */
  readonly send?: typeof timedPost
  /** Whether others give receipts too, so that the age without one means something. */
  readonly othersVouch: boolean
  /** The time of day. */
  readonly clock: () => Milliseconds
  /** Milliseconds of a clock that is never set. */
  readonly timer: () => number
  readonly onFailure: (error: unknown) => void
}

/** State of the time stamps. */
interface TimeStampFacts {
  readonly failures: number
  /** Since the oldest checkpoint was signed that no receipt covers; 0 without one, undefined where none are asked for. */
  readonly unanchoredSeconds: number | undefined
}

/** An answer that was checked. */
type Stamped = Pick<ReceiptState, 'receipt' | 'assertedMicroseconds'>

const ANSWER_BYTES_MAXIMUM = 64 * 1024

/**
 * Has an authority certify when the last checkpoint existed (RFC 3161; spec/decisions/0158-receipts-and-witnesses.md).
 * At most one request is in flight; nothing else waits for it.
 */
export class CheckpointTimeStamps implements BackgroundWorker {
  readonly name = 'time-stamps'
  readonly #engine: Pick<EngineClient, 'execute'>
  readonly #reader: CheckpointReader
  readonly #options: TimeStampOptions
  readonly #stop = new AbortController()
  #flight: Promise<void> | undefined
  #failed: unknown
  readonly #backoff: Backoff
  #kept = 0

  constructor(engine: Pick<EngineClient, 'execute'>, reader: CheckpointReader, options: TimeStampOptions) {
    this.#engine = engine
    this.#reader = reader
    this.#options = options
    this.#backoff = new Backoff({ ...REMOTE_BACKOFF, timer: options.timer })
  }

  get status(): string {
    return `${this.#kept} time stamps kept, ${this.#backoff.failures} attempts failed`
  }

  get facts(): TimeStampFacts {
    const { mode, clock, othersVouch } = this.#options
    const isOff = mode === 'off' && !othersVouch
    const oldest = isOff ? undefined : this.#reader.oldestUnanchored()
    const age = oldest === undefined ? 0 : Math.max(0, clock() - oldest.timeMicroseconds / 1000) / 1000
    return { failures: this.#backoff.failures, unanchoredSeconds: isOff ? undefined : age }
  }

  async step(): Promise<StepResult> {
    if (this.#failed !== undefined) {
      const error = this.#failed
      this.#failed = undefined
      throw error
    }
    const { mode } = this.#options
    const { last } = this.#reader.state()
    if (mode === 'off') return 'done'
    if (last === undefined || this.#flight !== undefined || !this.#backoff.isDue) return 'idle'
    if (timeStampRequirement(this.#reader).isMet(last)) return 'idle'
    this.#flight = this.#attempt(last).finally(() => {
      this.#flight = undefined
    })
    return 'idle'
  }

  /** Nothing is waited for when the server stops: the next start asks again. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#flight
  }

  /** Never rejects: a failure of the authority is reported and retried, a failure here ends the next step. */
  async #attempt(checkpoint: CheckpointState): Promise<void> {
    let receipt: Stamped
    try {
      receipt = await this.#ask(checkpoint)
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#backoff.failed()
      this.#options.onFailure(error)
      return
    }
    try {
      const audit = systemAudit('checkpoints', 'checkpoint.receipt', checkpoint.origin)
      const { size } = checkpoint
      const giver = this.#options.url as string
      await this.#engine.execute({
        kind: 'record-receipt',
        audit,
        receipt: { size, kind: 'rfc3161', giver, ...receipt },
      })
      this.#kept += 1
      this.#backoff.succeeded()
    } catch (error) {
      this.#failed = error
    }
  }

  /** @throws TimeStampError, or the error of the connection */
  async #ask({ bundleRoot: root }: CheckpointState): Promise<Stamped> {
    const { url, timeoutMilliseconds, send = timedPost } = this.#options
    const nonce = nonceOf(randomBytes(8))
    const { status, contentType, body } = await send(new URL(url as string), timeStampRequest(root, nonce), {
      contentType: 'application/timestamp-query',
      bytesMaximum: ANSWER_BYTES_MAXIMUM,
      timeoutMilliseconds,
      stop: this.#stop.signal,
    })
    if (status !== 200) throw new TimeStampError(`the authority answered with HTTP ${status}`)
    if (contentType?.split(';')[0] !== 'application/timestamp-reply') {
      throw new TimeStampError(`the authority answered with ${contentType ?? 'no type'}`)
    }
    const { assertedMicroseconds } = readTimeStamp(body, { root, nonce })
    if (body.length > RECEIPT_BYTES_MAXIMUM) {
      throw new TimeStampError(`the time stamp has ${body.length} bytes; ${RECEIPT_BYTES_MAXIMUM} can be kept`)
    }
    return { receipt: Uint8Array.from(body), assertedMicroseconds: microsecondsOf(assertedMicroseconds) }
  }
}
