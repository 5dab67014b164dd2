import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { ReadinessCheck } from '../../planes/management/services.ts'
import { type DegradationSources, degradations, detailOf, reasonOf } from './degradations.ts'
import type { StoreSession } from './store/store-session.ts'
import type { EngineThread } from './threads/engine-thread-handle.ts'
import type { FrontEnds } from './threads/front-ends.ts'
import type { ThreadAnswer } from './threads/thread-question.ts'

export interface ReadinessParts {
  readonly engine: Pick<EngineThread, 'healthy' | 'ask'>
  readonly frontEnds: Pick<FrontEnds, 'threads'>
  readonly store: Pick<StoreSession, 'catalog' | 'events' | 'paths'>
  readonly degradations: DegradationSources
  /** The setting `sharing.enabled`. */
  readonly isSharing: boolean
  readonly isStopping: () => boolean
}

/** A thread or a disk without an answer in this time is not ready. */
const DEADLINE_MILLISECONDS = 1000
/** Of no token. */
const NO_DIGEST = new Uint8Array(32)
const LATE: unique symbol = Symbol('late')
type Late = typeof LATE

/**
 * Whether requests go through: every front end and the engine answer from their event loops, the disk answers, and the
 * data for requests can be read. Concurrent questions share one answer, so that many are no load.
 */
export class Readiness {
  readonly #parts: ReadinessParts
  readonly #deadlineMilliseconds: number
  #running: Promise<readonly ReadinessCheck[]> | undefined
  /** Of the disk: a question that hangs is not asked again, since each would keep a thread of the pool. */
  #disk: Promise<boolean> | undefined

  constructor(parts: ReadinessParts, deadlineMilliseconds = DEADLINE_MILLISECONDS) {
    this.#parts = parts
    this.#deadlineMilliseconds = deadlineMilliseconds
  }

  /** Every check; resolves within the deadline. */
  check(): Promise<readonly ReadinessCheck[]> {
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #check(): Promise<readonly ReadinessCheck[]> {
    const { engine, frontEnds, store, isSharing, isStopping } = this.#parts
    const ending = new AbortController()
    const late = pause(this.#deadlineMilliseconds, undefined, { signal: ending.signal }).then(
      (): Late => LATE,
      (): Late => LATE,
    )
    const asked = [
      this.#thread(engine.ask(), late, 'engine', 'the engine does not answer'),
      ...frontEnds.threads.map(({ name, ask }) => this.#thread(ask(), late, name, 'the front end does not answer')),
      this.#objectStorage(late),
    ]
    const answered = await Promise.all(asked)
    ending.abort()
    const snapshot = () => store.catalog.snapshot()
    const metadata = check(
      'metadata',
      works(() => snapshot().totals()),
      'the catalog cannot be read',
    )
    return [
      check('server', !isStopping(), 'the server is stopping'),
      check('audit', engine.healthy, 'the journal cannot be written'),
      metadata,
      check(
        'events',
        works(() => store.events.beginning),
        'the storage events cannot be read',
      ),
      ...(isSharing
        ? [
            check(
              'sharing',
              works(() => snapshot().findShare(NO_DIGEST)),
              'the links cannot be read',
            ),
          ]
        : []),
      ...answered,
      ...(metadata.ready ? this.#degraded() : []),
    ]
  }

  #degraded(): ReadinessCheck[] {
    const sources = this.#parts.degradations
    return degradations(sources).map((name) => {
      const detail = detailOf(name, sources)
      return {
        name,
        ready: false,
        degrades: true,
        reason: reasonOf(name, sources),
        ...(detail !== undefined && { detail }),
      }
    })
  }

  async #thread(
    answer: Promise<ThreadAnswer>,
    late: Promise<Late>,
    name: string,
    silence: string,
  ): Promise<ReadinessCheck> {
    const first = await Promise.race([answer, late])
    if (first === LATE) return check(name, false, silence)
    return check(name, first === undefined, first ?? '')
  }

  async #objectStorage(late: Promise<Late>): Promise<ReadinessCheck> {
    this.#disk ??= hasItsDirectories(this.#parts.store.paths).finally(() => {
      this.#disk = undefined
    })
    const first = await Promise.race([this.#disk, late])
    const reason = first === LATE ? 'the disk does not answer' : 'a directory of the store is missing'
    return check('object storage', first === true, reason)
  }
}

function check(name: string, ready: boolean, reason: string): ReadinessCheck {
  return { name, ready, reason }
}

/** Whether every directory that a request may need exists. */
async function hasItsDirectories({ journal, volumes, files, uploads, projections }: StorePaths): Promise<boolean> {
  const kinds = await Promise.allSettled([journal, volumes, files, uploads, projections].map((path) => stat(path)))
  return kinds.every((kind) => kind.status === 'fulfilled' && kind.value.isDirectory())
}

function works(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
