/** The program as a user starts it, killed at any moment. Its clock stands still between one start and the next. */
import { rmSync } from 'node:fs'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { ApiClient, basic } from '../support/api-client.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import type { WireAnswer } from '../support/wire-client.ts'
import type { ModelRequest } from './expectation.ts'
import { CLOCK_TOLERANCE, type Disturbance, FIRST_CLOCK, MODEL_EXTENSIONS, type ModelStore } from './model.ts'
import { sendSigned } from './model-client.ts'

const SETTINGS = {
  OBJECT_STORE_S3_EXTENSIONS: MODEL_EXTENSIONS.join(),
  OBJECT_STORE_STORAGE_SEGMENT_MIB: '1',
  OBJECT_STORE_STORAGE_VOLUME_MIB: '1',
  OBJECT_STORE_STORAGE_INLINE_LIMIT_BYTES: '2048',
  OBJECT_STORE_OBJECT_LOCK_CLOCK_BACKWARDS_TOLERANCE_SECONDS: String(CLOCK_TOLERANCE / 1000),
  OBJECT_STORE_WEBHOOKS_ALLOW_HTTP: 'true',
  OBJECT_STORE_WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true',
}
const FRONT_ENDS = 2

export class ProcessStore implements ModelStore {
  readonly dataDirectory: string
  #server: ProcessServer
  #api: ApiClient
  #clock = FIRST_CLOCK

  private constructor(dataDirectory: string, server: ProcessServer) {
    this.dataDirectory = dataDirectory
    this.#server = server
    this.#api = apiOf(server)
  }

  static async open(dataDirectory: string): Promise<ProcessStore> {
    return new ProcessStore(dataDirectory, await start(dataDirectory, FIRST_CLOCK))
  }

  send(request: ModelRequest): Promise<WireAnswer> {
    return sendSigned({ ...this.#server, api: this.#api }, request, this.#clock)
  }

  async sendDisturbed(
    requests: readonly ModelRequest[],
    disturbance: Disturbance,
  ): Promise<(WireAnswer | undefined)[]> {
    const sent = requests.map((request) => this.send(request).catch(() => undefined))
    if (disturbance.kind === 'kill') {
      // Timers are too coarse for what takes less than a millisecond.
      const end = performance.now() + disturbance.microseconds / 1000
      while (performance.now() < end) await new Promise(setImmediate)
      await this.restart('crash', false)
    }
    return Promise.all(sent)
  }

  async setClock(clock: number): Promise<void> {
    this.#clock = clock
    await this.restart('clean', false)
  }

  async restart(how: 'clean' | 'crash', rebuilds: boolean): Promise<void> {
    this.#api.close()
    if (how === 'clean') await this.#server.stop()
    else {
      // Before the connections are ended, which kill9 does first.
      this.#server.process.kill('SIGKILL')
      await this.#server.kill9()
    }
    if (rebuilds) rmSync(new StorePaths(this.dataDirectory).projections, { recursive: true })
    this.#server = await start(this.dataDirectory, this.#clock)
    this.#api = apiOf(this.#server)
  }

  /** They run by themselves. */
  async work(): Promise<void> {}

  /** None is begun by hand, and by itself the next one is an hour away. */
  async pass(): Promise<void> {}

  async end(): Promise<void> {
    this.#api.close()
    await this.#server.stop()
  }
}

function apiOf({ apiEndpoint }: ProcessServer): ApiClient {
  return ApiClient.of(apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
}

/** Every thread of the process loads a module first that stops its clock. */
function start(dataDirectory: string, clock: number): Promise<ProcessServer> {
  const stopsClock = encodeURIComponent(`Date.now = () => ${clock}`)
  const environment = { ...SETTINGS, NODE_OPTIONS: `--import=data:text/javascript,${stopsClock}` }
  return startProcess({ dataDirectory, frontEnds: FRONT_ENDS, environment })
}
