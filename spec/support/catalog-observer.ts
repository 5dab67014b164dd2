/** Looks at the catalog from another thread, at a moment when this one stands still. */
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'

/** What both sides share: whose turn it is, and the question or the answer as text. */
interface Shared {
  readonly directory: string
  readonly turn: Int32Array
  readonly text: Uint8Array
}

const TURN = { here: 0, there: 1, end: 2 } as const
const TEXT_BYTES = 64 * 1024
const SILENCE_MILLISECONDS_MAXIMUM = 20_000

function put(shared: Shared, text: string, turn: number): void {
  const bytes = Buffer.from(text)
  shared.text.set(bytes)
  Atomics.store(shared.turn, 1, bytes.length)
  Atomics.store(shared.turn, 0, turn)
  Atomics.notify(shared.turn, 0)
}

function take(shared: Shared): string {
  return Buffer.from(shared.text.slice(0, Atomics.load(shared.turn, 1))).toString()
}

/** Another reader of a store's catalog. Its answers come at once, also from within a synchronous operation. */
export class CatalogObserver {
  readonly #shared: Shared
  readonly #worker: Worker

  private constructor(shared: Shared, worker: Worker) {
    this.#shared = shared
    this.#worker = worker
  }

  /** `directory` holds the projections. */
  static async start(directory: string): Promise<CatalogObserver> {
    const turn = new Int32Array(new SharedArrayBuffer(8))
    const shared = { directory, turn, text: new Uint8Array(new SharedArrayBuffer(TEXT_BYTES)) }
    const worker = new Worker(new URL(import.meta.url), { workerData: shared })
    await once(worker, 'online')
    return new CatalogObserver(shared, worker)
  }

  /** ETags of objects as another reader sees them now; undefined where there is none. */
  etags(bucket: string, keys: readonly string[]): (string | undefined)[] {
    put(this.#shared, JSON.stringify([bucket, ...keys]), TURN.there)
    if (Atomics.wait(this.#shared.turn, 0, TURN.there, SILENCE_MILLISECONDS_MAXIMUM) === 'timed-out') {
      throw new Error('the other reader gives no answer')
    }
    const etags = JSON.parse(take(this.#shared)) as (string | null)[]
    return etags.map((etag) => etag ?? undefined)
  }

  async stop(): Promise<void> {
    put(this.#shared, '', TURN.end)
    await once(this.#worker, 'exit')
  }
}

/** The other thread: answers until it is told to end. */
async function answer(shared: Shared): Promise<void> {
  const environment = ProjectionEnvironment.open(shared.directory, { readOnly: true })
  const catalog = new CatalogReader(environment)
  for (;;) {
    Atomics.wait(shared.turn, 0, TURN.here)
    if (Atomics.load(shared.turn, 0) === TURN.end) break
    const [bucket = '', ...keys] = JSON.parse(take(shared)) as string[]
    const found = catalog.snapshot().bucket(bucket)
    const etags = keys.map((key) =>
      found === undefined ? null : (catalog.snapshot().object(found.id, key)?.etag ?? null),
    )
    put(shared, JSON.stringify(etags), TURN.here)
  }
  await environment.close()
}

if (!isMainThread && workerData !== null) await answer(workerData as Shared)
