/** A store in the thread of the spec: its clock can be set at any moment, and it is started again in milliseconds. */
import { rmSync } from 'node:fs'
import { bucketIdOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { VolumeCompaction } from '../../workers/compact-volumes.ts'
import { MultipartDigest } from '../../workers/digest-multipart.ts'
import { UploadReclaim } from '../../workers/reclaim-uploads.ts'
import { PayloadFileSweep } from '../../workers/sweep-payload-files.ts'
import type { BackgroundWorker } from '../../workers/worker.ts'
import { settledFiles } from '../support/multipart.ts'
import { runPass } from '../support/lifecycle.ts'
import { type ManagedServer, startManaged } from '../support/management-server.ts'
import type { WireAnswer } from '../support/wire-client.ts'
import type { ModelRequest } from './expectation.ts'
import type { StoreCounts } from './leftovers.ts'
import { type Disturbance, FIRST_CLOCK, MODEL_EXTENSIONS, type ModelStore } from './model.ts'
import { isManagement, sendCut, sendSigned } from './model-client.ts'

/** Small, so that bodies of a few kilobytes get files of their own, and segments and volumes are rotated. */
const SIZES = { inlineBytesMaximum: 2048, segmentBytes: 128 * 1024, volumeBytes: 8 * 1024 }
/** Turns of the event loop in which the server sees what a connection held when it ended. */
const REQUESTS_BEHIND_CUT = 3

export class ThreadStore implements ModelStore {
  readonly dataDirectory: string
  #server: ManagedServer
  #jobs: readonly BackgroundWorker[]
  #starts = 1
  readonly #clock: { milliseconds: number }

  private constructor(server: ManagedServer, clock: { milliseconds: number }) {
    this.#server = server
    this.#jobs = jobsOf(server)
    this.#clock = clock
    this.dataDirectory = server.dataDirectory
  }

  static async open(dataDirectory: string): Promise<ThreadStore> {
    const clock = { milliseconds: FIRST_CLOCK }
    return new ThreadStore(await start(dataDirectory, clock, 1), clock)
  }

  send(request: ModelRequest): Promise<WireAnswer> {
    return sendSigned(this.#server, request, Date.now())
  }

  async sendDisturbed(
    requests: readonly ModelRequest[],
    disturbance: Disturbance,
  ): Promise<(WireAnswer | undefined)[]> {
    const working = disturbance.kind === 'work' ? this.work(disturbance.steps) : undefined
    const answers = await Promise.all(
      requests.map(async (request, index) => {
        if (disturbance.kind !== 'cut' || disturbance.index !== index) return this.send(request)
        const { share, turns } = disturbance
        // On the management plane it is the answer that is lost.
        if (isManagement(request)) await this.send(request)
        else await sendCut(this.#server, request, Date.now(), share, turns)
        return undefined
      }),
    )
    await working
    await this.#rest()
    return answers
  }

  /** The records of what was answered are in the journal before, and one with the new time after. */
  async setClock(clock: number): Promise<void> {
    await this.#server.store.loop.drained()
    this.#clock.milliseconds = clock
    await this.send({ method: 'GET', target: '/' })
    await this.#server.store.loop.drained()
  }

  async restart(how: 'clean' | 'crash', rebuilds: boolean): Promise<void> {
    await this.#rest()
    if (how === 'clean') {
      await this.#stop()
    } else {
      await this.#endJobs()
      await this.#server.abandon()
    }
    if (rebuilds) rmSync(this.#server.paths.projections, { recursive: true })
    this.#starts += 1
    this.#server = await start(this.dataDirectory, this.#clock, this.#starts)
    this.#jobs = jobsOf(this.#server)
  }

  /** One job after the other does a step. */
  async work(steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) await this.#jobs[step % this.#jobs.length]?.step()
  }

  async pass(): Promise<void> {
    const { failed } = await runPass(this.#server.store, { now: this.#clock.milliseconds })
    if (failed > 0) throw new Error(`${failed} entries of a pass over the lifecycle rules failed`)
  }

  /** Usage as the catalog has it; what remains is looked for after the background jobs have come to rest. */
  get counts(): StoreCounts {
    return {
      usage: (bucket) => {
        const catalog = this.#server.store.catalog.snapshot()
        return catalog.bucketUsage(bucketIdOf(catalog.bucket(bucket)?.id ?? 0))
      },
      remains: () => this.#remains(),
    }
  }

  async #remains(): Promise<string[]> {
    for (const job of this.#jobs) while ((await job.step()) === 'more');
    const catalog = this.#server.store.catalog.snapshot()
    const { physicalBytes } = catalog.totals()
    const { uploads, parts, bytes } = catalog.uploadUsage()
    return [
      ...(await settledFiles(this.#server)),
      ...(physicalBytes === 0 ? [] : [`${physicalBytes} bytes in the catalog`]),
      ...(uploads + parts + bytes === 0 ? [] : [`${uploads} uploads with ${parts} parts and ${bytes} bytes`]),
    ]
  }

  /** Stops in order. */
  async end(): Promise<void> {
    await this.#stop()
  }

  async #stop(): Promise<void> {
    await this.#endJobs()
    await this.#server.stop()
    this.#refuseFailures()
  }

  async #endJobs(): Promise<void> {
    for (const job of this.#jobs) await job.close?.()
  }

  /** Waits until nothing is on its way in the server. */
  async #rest(): Promise<void> {
    for (let count = 0; count < REQUESTS_BEHIND_CUT; count += 1) await this.send({ method: 'GET', target: '/' })
    const { gate, store } = this.#server
    while (gate.active > 0 || gate.queued > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await store.loop.drained()
    this.#refuseFailures()
  }

  #refuseFailures(): void {
    const { failures, undocumented } = this.#server
    const [failure] = [...failures, ...undocumented]
    if (failure !== undefined) throw new Error(`the server reported a fault of its own: ${failure}`, { cause: failure })
  }
}

/** Every other start encrypts what it writes. */
function start(
  dataDirectory: string,
  clock: { readonly milliseconds: number },
  starts: number,
): Promise<ManagedServer> {
  const encryptionEnabled = starts % 2 === 0
  const extensions = MODEL_EXTENSIONS
  const webhooks = { rules: { allowHttp: true, allowPrivateNetworks: true } }
  return startManaged({
    dataDirectory,
    clock: () => clock.milliseconds,
    encryptionEnabled,
    extensions,
    webhooks,
    ...SIZES,
  })
}

/** As the server has them (cli/server/background-workers.ts). */
function jobsOf({ paths, store, services }: ManagedServer): BackgroundWorker[] {
  const { client, catalog } = store
  return [
    new VolumeCompaction(nodeDisk, paths, client, catalog),
    new MultipartDigest(client, catalog, services.payloads),
    new UploadReclaim(client, catalog, { afterDays: 0, clock: Date.now, uploadIds: services.uploadIds }),
    new PayloadFileSweep(nodeDisk, paths, store.start, (name) => catalog.snapshot().payloadFileIsUsed(name)),
  ]
}
