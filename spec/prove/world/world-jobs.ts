/** The background workers of a process of the world, as the server has them (cli/server/background-workers.ts). */
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import { storeCreation } from '../../../engine/journal/segment-chain.ts'
import { COUNTED_ROWS_MAXIMUM, RowWalk } from '../../../projections/row-walk.ts'
import { SnapshotWalk } from '../../../projections/snapshots/snapshot-walk.ts'
import { RowCheck } from '../../../workers/check-rows.ts'
import { SNAPSHOT_PIECE_BYTES, SnapshotCheck } from '../../../workers/check-snapshots.ts'
import { NO_PACE } from '../../../projections/steady-pace.ts'
import { makeSnapshot } from '../../../projections/snapshots/make-snapshot.ts'
import { getApplied } from '../../../projections/tables/applied.ts'
import { openTables } from '../../../projections/tables/table-list.ts'
import { IndexCheck } from '../../../projections/record-index/check-index.ts'
import { makeIndex } from '../../../projections/record-index/make-index.ts'
import { RecordIndexing } from '../../../workers/index-records.ts'
import { SnapshotMaker } from '../../../workers/make-snapshots.ts'
import { VolumeCompaction } from '../../../workers/compact-volumes.ts'
import { SegmentCompression } from '../../../workers/compress-segments.ts'
import { MultipartDigest } from '../../../workers/digest-multipart.ts'
import { LifecycleExpiry } from '../../../workers/lifecycle/expire-objects.ts'
import { UploadReclaim } from '../../../workers/reclaim-uploads.ts'
import { PayloadScrub } from '../../../workers/scrub/payload-scrub.ts'
import { StoreScrub } from '../../../workers/scrub/scrub-store.ts'
import { SegmentScrub } from '../../../workers/scrub/segment-scrub.ts'
import { PayloadFileSweep } from '../../../workers/sweep-payload-files.ts'
import type { WebhookDelivery } from '../../../workers/webhooks/deliver-webhooks.ts'
import type { WebhookSender } from '../../../workers/webhooks/sender.ts'
import type { BackgroundWorker } from '../../../workers/worker.ts'
import type { ManagedServer } from '../../support/management-server.ts'
import { thing } from './coverage.ts'
import { checkpointWorkers, type Required } from './world-checkpoints.ts'
import { deliveryOf } from './world-webhooks.ts'
import type { WorldHost } from './world-host.ts'

/** As the supervisor of the workers waits between two steps of one (workers/supervisor.ts). */
const PAUSE_MILLISECONDS = 5
const IDLE_MILLISECONDS = 1000
/** Longer than it is looked between two snapshots whether one is due. */
const SNAPSHOT_SECONDS = 6
/** Longer than it is looked whether a segment was sealed. */
const INDEX_SECONDS = 6
/** Of a check of everything: more than a world has rows and pieces for. */
const DAILY_STEPS_MAXIMUM = 50
/** Between two passes over the lifecycle rules, which only `pass` lets go by. */
const PASS_SECONDS = 60
/** Entries of one pass: more than a world has. */
const PASS_ENTRIES = 1000
const SCRUB_BYTES_PER_SECOND = 2 ** 30
const SCRUB_DAYS = 2
/** By the number of a start. */
const REQUIRED: readonly Required[] = ['nothing', 'a time stamp', 'a witness']
/** Steps of workers that fail so are tried again later. */
const TRIED_AGAIN: ReadonlySet<string> = new Set(['MemoryUnavailableError'])

/** As the server's (cli/lifecycle/start.ts). */
const clock = systemMilliseconds
const timer = () => performance.now()

export class WorldJobs {
  readonly delivery: WebhookDelivery
  readonly #lifecycle: LifecycleExpiry
  readonly #scrub: StoreScrub
  readonly #signing: readonly BackgroundWorker[]
  /** They read everything once a day: once in a process of a world. */
  readonly #snapshots: SnapshotMaker
  readonly #daily: readonly (BackgroundWorker & { readonly status: string })[]
  readonly #inTurn: readonly BackgroundWorker[]
  /** Not among those in turn, since kept worlds have what they do in their order. */
  readonly #indexing: RecordIndexing
  #indexFailure: unknown
  readonly #host: WorldHost
  #isCutOff = false
  /** The first thing that a worker says and that nothing in a world makes. */
  #wrong: string | undefined
  #turn = 0
  /** Of the last snapshot. */
  #snapshotFailure: unknown
  /** Of the last pass over the lifecycle rules. */
  #passFailure: unknown

  /** @param starts number of this start */
  constructor(host: WorldHost, server: ManagedServer, sender: WebhookSender, starts: number) {
    const { paths, store, services, session, ground } = server
    const { catalog } = store
    const { disk } = ground
    const engine = this.#connected(store.client)
    this.#host = host
    this.delivery = deliveryOf(engine, session, sender, host.receivers)
    this.#lifecycle = new LifecycleExpiry(engine, catalog, {
      intervalSeconds: PASS_SECONDS,
      batchSize: PASS_ENTRIES,
      clock,
      timer,
      onPass: ({ failed }, failure) => {
        this.#passFailure = failure ?? (failed > 0 ? new Error(`${failed} entries failed`) : undefined)
      },
    })
    const required = REQUIRED[starts % REQUIRED.length] as Required
    this.#signing = checkpointWorkers(engine, server, host.outside, required, (what) => (this.#wrong ??= what))
    const scrubbed = { payloads: new PayloadScrub(catalog, session.payloads), segments: new SegmentScrub(disk, paths) }
    this.#scrub = new StoreScrub(engine, catalog, scrubbed, {
      intervalDays: SCRUB_DAYS,
      bytesPerSecond: SCRUB_BYTES_PER_SECOND,
      createdMilliseconds: storeCreation(disk, paths),
      clock,
      timer,
      onDamage: (damage) => host.scrubbed(damage),
      onEnd: () => undefined,
    })
    const { accessChanges, accessRows, earlier } = server.keys
    this.#snapshots = new SnapshotMaker(disk, paths, session.space, {
      enabled: true,
      records: 1,
      intervalMilliseconds: 0,
      kept: 2,
      refused: store.report.refusedSnapshots.map(({ name }) => name),
      reservedBytes: 0,
      request: { deploymentId: store.deploymentId, keys: { accessChanges, accessRows, earlier } },
      run: (request) => ({ ended: makeSnapshot(disk, paths, request, NO_PACE), stop: () => undefined }),
      clock,
      timer,
      onMade: ({ refused, sequence }) => {
        const { spoiltSnapshots: spoilt, earlierSnapshots: earlierOnes } = host
        const wronged = refused.find(({ name }) => !spoilt.has(name) && !earlierOnes.has(name))
        if (wronged !== undefined) this.#wrong ??= `snapshot ${wronged.name} was refused: ${wronged.reason}`
        for (const name of host.spoiltSnapshots) if (name.includes(String(sequence))) host.spoiltSnapshots.delete(name)
      },
      onFailure: (error) => {
        this.#snapshotFailure = error
      },
    })
    this.#daily = [
      new RowCheck(new RowWalk(session.environment, COUNTED_ROWS_MAXIMUM), {
        timer,
        onDamage: ({ table, key }) => (this.#wrong ??= `a row is damaged: ${table} ${key}`),
      }),
      new SnapshotCheck(new SnapshotWalk(disk, paths, SNAPSHOT_PIECE_BYTES), {
        timer,
        onDamage: ({ name, reason }) => {
          if (host.spoiltSnapshots.has(name)) this.#snapshots.replace(name)
          else this.#wrong ??= `snapshot ${name} is damaged: ${reason}`
        },
      }),
    ]
    const { applied } = openTables(session.environment)
    this.#indexing = new RecordIndexing(disk, paths, session.space, new IndexCheck(disk, paths), {
      enabled: true,
      reservedBytes: 0,
      lastDurable: () => getApplied(applied)?.position?.sequence,
      run: (task) => ({
        ended: Promise.resolve().then(() => makeIndex(disk, paths, task, NO_PACE)),
        stop: () => undefined,
      }),
      timer,
      onDamage: (path) => disk.remove(path),
      onFailure: (error) => {
        this.#indexFailure = error
      },
    })
    this.#inTurn = [
      new VolumeCompaction(disk, paths, engine, catalog),
      new MultipartDigest(engine, catalog, services.payloads),
      new UploadReclaim(engine, catalog, { afterDays: 0, clock, uploadIds: services.uploadIds }),
      new PayloadFileSweep(disk, paths, store.start, (name) => catalog.snapshot().payloadFileIsUsed(name)),
      new SegmentCompression(disk, paths, {
        enabled: true,
        afterHours: 0,
        bytesPerSecond: Number.POSITIVE_INFINITY,
        start: store.start,
        // Entries of one millisecond are ordered by microseconds, and the clock of a world stands still.
        clock: () => clock() + 1,
        timer,
      }),
      this.delivery,
      this.#scrub,
      ...this.#signing,
    ]
  }

  /** One worker after the other does a step. */
  async work(steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      const job = this.#inTurn[this.#turn % this.#inTurn.length] as BackgroundWorker
      this.#turn += 1
      await this.#step(job)
      await pause(PAUSE_MILLISECONDS)
    }
  }

  /** Every worker works until it has nothing to do, or has done so many steps; it may fail with what `isExpected` says. */
  async workDespite(steps: number, isExpected: (failure: unknown) => boolean): Promise<void> {
    for (const job of this.#inTurn) {
      for (let step = 0; step < steps; step += 1) {
        const result = await this.#step(job).catch((error: unknown) => {
          if (!isExpected(error)) throw error
        })
        await pause(PAUSE_MILLISECONDS)
        if (result === 'idle') break
      }
    }
  }

  /** The pass of a scrub that is under way goes to its end. */
  async scrub(): Promise<void> {
    while ((await this.#step(this.#scrub)) === 'more') await pause(PAUSE_MILLISECONDS)
  }

  /** Every worker works until it has nothing to do. */
  async finish(): Promise<void> {
    for (const job of this.#inTurn) while ((await this.#step(job)) === 'more') await pause(PAUSE_MILLISECONDS)
  }

  /** All rows and all snapshots are read, unless this process has done so before. */
  async checkAll(): Promise<void> {
    for (const job of this.#daily) {
      const before = job.status
      for (let step = 0; step < DAILY_STEPS_MAXIMUM && job.status === before; step += 1) await this.#step(job)
    }
  }

  /** Files of the record index are made, until none is to be made. @returns how many steps something was done in */
  async index(): Promise<number> {
    await pause(INDEX_SECONDS * 1000)
    this.#indexFailure = undefined
    let done = 0
    for (let before = ''; this.#indexing.status !== before; done += 1) {
      before = this.#indexing.status
      await this.#step(this.#indexing)
      await pause(PAUSE_MILLISECONDS)
    }
    if (this.#indexFailure !== undefined) throw this.#indexFailure
    return done
  }

  /** A snapshot is made, if there is anything that the last one does not have. @returns why it could not be */
  async makeSnapshot(): Promise<unknown> {
    await pause(SNAPSHOT_SECONDS * 1000)
    this.#snapshotFailure = undefined
    await this.#step(this.#snapshots)
    await this.#snapshots.settled()
    if (this.#wrong !== undefined) throw new Error(this.#wrong)
    return this.#snapshotFailure
  }

  /** A pass over the lifecycle rules, to its end. @throws when a part of it failed */
  async pass(): Promise<void> {
    await pause(PASS_SECONDS * 1000)
    this.#passFailure = undefined
    while ((await this.#step(this.#lifecycle)) === 'more');
    if (this.#passFailure !== undefined) throw this.#passFailure
  }

  /**
   * Delivers for so many seconds of the stopwatch, or until nothing is pending.
   * @returns whether nothing is
   */
  async deliver(seconds: number): Promise<boolean> {
    // Two steps with nothing to do: the first one may have read what the second sends.
    let idle = 0
    for (let second = 0; second < seconds && idle < 2; second += 1) {
      const result = await this.#step(this.delivery)
      await pause(IDLE_MILLISECONDS)
      idle = result === 'idle' && this.delivery.counts.pending === 0 ? idle + 1 : 0
    }
    return idle === 2
  }

  /** Begins deliveries in so many steps, and takes in how they end; no step is late enough to report them. */
  async attempt(steps: number): Promise<void> {
    // The page of new events is read once a second.
    await pause(IDLE_MILLISECONDS)
    for (let step = 0; step < steps; step += 1) {
      await this.#step(this.delivery)
      await pause(PAUSE_MILLISECONDS)
    }
  }

  /** For so many seconds of the stopwatch checkpoints are signed and published. */
  async sign(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      for (const job of this.#signing) while ((await this.#step(job)) === 'more');
      await pause(IDLE_MILLISECONDS)
    }
  }

  /** Ends in order. */
  async close(): Promise<void> {
    for (const job of [...this.#inTurn, ...this.#daily, this.#indexing]) await job.close?.()
  }

  /** The process is gone: nothing that workers are about reaches the engine, and nobody hears how they end. */
  async cutOff(): Promise<void> {
    this.#isCutOff = true
    for (const job of [...this.#inTurn, ...this.#daily, this.#indexing]) await job.close?.().catch(() => undefined)
  }

  async #step(job: BackgroundWorker): ReturnType<BackgroundWorker['step']> {
    this.#host.met.add(thing('worker', job.name))
    const result = await job.step().catch((error: unknown) => {
      if (error instanceof Error && TRIED_AGAIN.has(error.name)) return 'idle' as const
      throw error
    })
    if (this.#wrong !== undefined) throw new Error(this.#wrong)
    return result
  }

  #connected(client: EngineClient): EngineClient {
    return {
      execute: (command) =>
        this.#isCutOff ? Promise.reject(new Error('the process is gone')) : client.execute(command),
      record: client.record.bind(client),
      recordFailedChange: client.recordFailedChange.bind(client),
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
