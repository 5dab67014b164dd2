import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bars } from './bars.ts'
import { Children } from './children.ts'
import type { Endpoint } from './endpoint.ts'
import type { Figure, LimitName, MachineLimit, Unit } from './figure.ts'
import { FilledStore } from './filled-store.ts'
import type { Load } from './load.ts'
import type { Settings } from './options.ts'
import { processorSeconds } from './process-usage.ts'
import { S3Client } from './s3-client.ts'
import { type BenchSecrets, makeSecrets, ServerProcess } from './server-process.ts'
import { type LoadResult, runWrk, writeLoad } from './wrk.ts'

/** A server that answers, with a bucket to work in. */
export interface Target {
  readonly endpoint: Endpoint
  readonly bucket: string
  readonly client: S3Client
  /** Process of the server, when it is known. */
  readonly pid: number | undefined
  /** Address of the management listener of a server of our own. */
  readonly managementUrl?: string
}

/** A load to be measured, and what to call the figure. */
export interface Measurement {
  readonly figure: string
  readonly label: string
  readonly load: Load
  readonly connections: number
  /** Defaults to the seconds of the settings. */
  readonly seconds?: number
  /** Bytes of one object: the figure is then MiB a second. */
  readonly objectBytes?: number
  readonly limits: readonly LimitName[]
  readonly note?: string
}

interface MeasuredLoad extends LoadResult {
  /** Processor time of the server, when its process is known. */
  readonly processorSeconds: number | undefined
}

const BUCKET = 'bench'
const MEBIBYTE = 1024 ** 2
/** Time for the server to compile its hot paths. */
const WARM_UP_SECONDS_MAXIMUM = 3

/** What scenarios work with: settings, servers, load, and the place where figures go. */
export class Bench {
  readonly settings: Settings
  readonly children = new Children()
  /** Everything the run writes, but for its results. */
  readonly directory: string
  readonly secrets: BenchSecrets = makeSecrets()
  readonly filled: FilledStore
  /** Limits of the machine, measured before the first scenario. */
  machineLimits: readonly MachineLimit[] = []
  readonly #write: (text: string) => void
  #figures: Figure[] = []

  /** @param write where progress is reported */
  constructor(settings: Settings, write: (text: string) => void) {
    this.settings = settings
    this.#write = write
    mkdirSync(settings.directory, { recursive: true })
    this.directory = mkdtempSync(join(settings.directory, 'object-store-bench-'))
    this.filled = new FilledStore(this.directory, this.children, this.secrets)
  }

  say(text: string): void {
    this.#write(`${text}\n`)
  }

  add(figure: Figure): void {
    this.#figures.push(figure)
    this.say(`    ${figure.label}: ${figure.value.toFixed(figure.value < 100 ? 2 : 0)} ${figure.unit}`)
  }

  /** The figures added since the last call. */
  takeFigures(): Figure[] {
    return this.#figures.splice(0)
  }

  /** Ends every process that still runs and removes everything but the results. */
  close(): void {
    this.children.killAll()
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** Starts our own server. The command line's settings override `settings`. */
  startServer(dataDirectory: string, settings: readonly string[] = []): Promise<ServerProcess> {
    const { serverSettings, profileDirectory } = this.settings
    const { secrets, directory } = this
    return ServerProcess.start(this.children, {
      dataDirectory,
      logDirectory: directory,
      secrets,
      settings: [...serverSettings, ...settings],
      profileDirectory,
    })
  }

  /** Works with an empty bucket: of a new server on an empty data directory, or of the server that was given. */
  async withTarget(work: (target: Target) => Promise<void>, settings: readonly string[] = []): Promise<void> {
    const { endpoint, processId } = this.settings
    const name = randomBytes(4).toString('hex')
    if (endpoint !== undefined) {
      await this.#withBucket(endpoint, `object-store-bench-${name}`, processId, work)
      return
    }
    const dataDirectory = join(this.directory, `store-${name}`)
    const server = await this.startServer(dataDirectory, settings)
    try {
      await this.#withBucket(server.endpoint, BUCKET, server.pid, (target) =>
        work({ ...target, managementUrl: server.managementUrl }),
      )
      await server.stop()
    } catch (error) {
      await server.kill()
      throw error
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true })
    }
  }

  /** Works with a server of our own on a data directory that has a bucket; stops it afterwards. */
  async withServerOn(
    dataDirectory: string,
    bucket: string,
    work: (target: Target, server: ServerProcess) => Promise<void>,
    settings: readonly string[] = [],
  ): Promise<void> {
    const server = await this.startServer(dataDirectory, settings)
    const client = new S3Client(server.endpoint)
    try {
      const { endpoint, managementUrl, pid } = server
      await work({ endpoint, managementUrl, bucket, client, pid }, server)
      await server.stop()
    } catch (error) {
      await server.kill()
      throw error
    } finally {
      client.close()
    }
  }

  async #withBucket(
    endpoint: Endpoint,
    bucket: string,
    pid: number | undefined,
    work: (target: Target) => Promise<void>,
  ): Promise<void> {
    const client = new S3Client(endpoint)
    try {
      await client.createBucket(bucket)
      await work({ endpoint, bucket, client, pid })
    } finally {
      client.close()
    }
  }

  /** @throws Error when the limits were not measured */
  machineLimit(name: LimitName): number {
    const limit = this.machineLimits.find((candidate) => candidate.name === name)
    if (limit === undefined) throw new Error(`the limit ${name} of the machine was not measured`)
    return limit.value
  }

  /** Lets the server run a load without looking at its figures. */
  async warmUp(target: Target, load: Load, connections: number): Promise<void> {
    await this.runLoad(target, load, connections, Math.min(WARM_UP_SECONDS_MAXIMUM, this.settings.seconds))
  }

  /**
   * Measures a load and adds its figure.
   * @throws LoadFailedError
   */
  async measure(target: Target, measurement: Measurement): Promise<MeasuredLoad> {
    const { figure, label, load, connections, objectBytes, limits, note } = measurement
    const processorBefore = target.pid === undefined ? 0 : processorSeconds(target.pid)
    const seconds = measurement.seconds ?? this.settings.seconds
    const result = await this.runLoad(target, load, connections, seconds)
    const processor = target.pid === undefined ? undefined : processorSeconds(target.pid) - processorBefore
    const [value, unit]: [number, Unit] =
      objectBytes === undefined
        ? [result.requestsPerSecond, 'per second']
        : [(result.requestsPerSecond * objectBytes) / MEBIBYTE, 'MiB/s']
    this.add({
      name: figure,
      label,
      value,
      unit,
      latency: result.latency,
      processorMicroseconds: processor === undefined ? undefined : (processor * 1_000_000) / result.answered,
      limits,
      note,
    })
    if (processor !== undefined) this.#addProcessor(figure, label, (processor * 1000) / result.answered)
    return { ...result, processorSeconds: processor }
  }

  /** Processor time of the server for each request, as a figure of its own where there is a bar for it. */
  #addProcessor(figure: string, label: string, milliseconds: number): void {
    const name = `${figure}-processor`
    if (!bars.some((bar) => bar.figure === name)) return
    this.add({ name, label: `${label}: processor time of the server`, value: milliseconds, unit: 'ms' })
  }

  /** Sends one request of each kind first, so that a refusal is shown with its reason and a redirect is not counted. */
  async runLoad(target: Target, load: Load, connections: number, seconds: number): Promise<LoadResult> {
    const kinds = new Set(load.requests.map((request) => request.method))
    for (const kind of kinds) {
      const first = load.requests.find((request) => request.method === kind)
      if (first !== undefined) await target.client.send(first, kind === 'PUT' ? load.body : undefined)
    }
    const prepared = writeLoad(this.directory, target.endpoint, load)
    return runWrk(this.children, { url: target.endpoint.url, connections, seconds, load: prepared })
  }
}
