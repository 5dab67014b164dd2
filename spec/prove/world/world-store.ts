/** The store of a simulated world, as the model drives it, with the ends and faults that no other store of a model has. */
import { bucketIdOf } from '../../../engine/brands.ts'
import type { ModelRequest } from '../../model/expectation.ts'
import type { StoreCounts } from '../../model/leftovers.ts'
import type { Disturbance, ModelStore } from '../../model/model.ts'
import { listEvents, pageOf } from '../../model/operations/list-events.ts'
import { sendSigned } from '../../model/model-client.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { accessOf } from './access-ledger.ts'
import { thing } from './coverage.ts'
import { filesThatStay } from './files-that-stay.ts'
import { judge } from './last-judgement.ts'
import type { Arrival } from './receivers.ts'
import { linksOf } from './link-ledger.ts'
import type { SimulatedTime } from './simulated-time.ts'
import { arm, disarm, type Strike } from './strikes.ts'
import type { SuddenEnd, WorldHost } from './world-host.ts'
import type { WorldJobs } from './world-jobs.ts'
import { startProcess, type WorldProcess } from './world-process.ts'
import type { WorldServer } from './world-server.ts'

/** At the end of a world: longer than the attempts of all its events. */
const DELIVERY_SECONDS_MAXIMUM = 20_000

/** A world's store. @throws Error for any other, which has no host */
export function worldOf(store: ModelStore): WorldStore {
  if (store instanceof WorldStore) return store
  throw new Error('only a world has a host')
}

export class WorldStore implements ModelStore {
  readonly #host: WorldHost
  readonly #time: SimulatedTime
  #server: WorldServer
  #jobs: WorldJobs
  #starts = 1
  /** Whether this process has met a fault, so that it may speak of faults of its own. */
  #wasStruck = false

  private constructor(host: WorldHost, time: SimulatedTime, { server, jobs }: WorldProcess) {
    this.#host = host
    this.#time = time
    this.#server = server
    this.#jobs = jobs
  }

  static async open(host: WorldHost, time: SimulatedTime): Promise<WorldStore> {
    return new WorldStore(host, time, await startProcess(host, time, 1))
  }

  /** The running process. */
  get server(): WorldServer {
    return this.#server
  }

  get host(): WorldHost {
    return this.#host
  }

  /** Turns of the loop of the world so far. */
  get turns(): number {
    return this.#time.turns
  }

  /** Milliseconds since 1970, by the clock of the host. */
  get now(): number {
    return this.#time.wallMilliseconds
  }

  /** Of the last entry of the journal, in milliseconds since 1970. */
  get journalTime(): number {
    return Math.floor(this.#server.store.journal.position.orderMicroseconds / 1000)
  }

  send(request: ModelRequest): Promise<WireAnswer> {
    return sendSigned(this.#server, request, this.#time.wallMilliseconds)
  }

  get jobs(): WorldJobs {
    return this.#jobs
  }

  /** Ids that answers of the management plane have named, the newest last. */
  get learnedIds(): readonly string[] {
    return this.#host.ids
  }

  /** A request to the management plane, as the system administrator. */
  async manage(
    method: string,
    target: string,
    raw: string,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { status, text, json } = await this.#server.api.send(method, target, { raw })
    linksOf(this.#host).saw(method, target, { status, json })
    accessOf(this.#host).saw(method, target, raw, { status, json }, this.now)
    for (const [, id] of JSON.stringify(json ?? {}).matchAll(/"(?:\w+_)?id":"([^"]+)"/g)) this.#host.learn(String(id))
    return { status, text }
  }

  /** Sends a request of S3 that a credential signs. */
  sendAs(
    signing: { readonly accessKey: string; readonly secretKey: string },
    request: ModelRequest,
  ): Promise<WireAnswer> {
    const { method, target, headers = [], body } = request
    const { accessKey, secretKey } = signing
    const bytes = typeof body === 'object' ? body.bytes : (body ?? '')
    return this.#server.raw(method, target, { headers, body: bytes, sign: { accessKey, secretKey } })
  }

  /** Reads an object by a link that carries its signature. */
  visit({ bucket, key }: { readonly bucket: string; readonly key: string }): Promise<WireAnswer> {
    const { wire } = this.#server
    const target = wire.presigned('GET', `/${bucket}/${key}`, { now: this.#time.wallMilliseconds })
    return wire.send('GET', target, { sign: false })
  }

  /** Sends a request and reads nothing of its answer. @returns what came; undefined when that was cut off */
  async readNothing({ method, target }: ModelRequest): Promise<WireAnswer | undefined> {
    this.#host.network.next = { readTurns: undefined }
    const answer = await this.#server.raw(method, target, { sign: { now: this.#time.wallMilliseconds } })
    return answer.complete ? answer : undefined
  }

  async sendDisturbed(
    requests: readonly ModelRequest[],
    disturbance: Disturbance,
  ): Promise<(WireAnswer | undefined)[]> {
    const working = disturbance.kind === 'work' ? this.work(disturbance.steps) : undefined
    const answers = await Promise.all(
      requests.map((request, index) => {
        if (disturbance.kind !== 'cut' || disturbance.index !== index) return this.send(request)
        const { share, turns } = disturbance
        this.#host.network.next = { cut: { share, turns } }
        return this.send(request).catch(() => undefined)
      }),
    )
    await working
    await this.rest()
    return answers
  }

  /**
   * Sends all at once, while the workers do some steps and the host is struck; then the server is started again. No answer
   * for what got none, or not all of it.
   */
  async strike(
    requests: readonly ModelRequest[],
    strike: Strike,
    steps: number,
    meanwhile: () => Promise<unknown> = async () => undefined,
  ): Promise<(WireAnswer | undefined)[]> {
    const host = this.#host
    this.#wasStruck = true
    arm(host, strike)
    const working = Promise.all([this.#jobs.work(steps), meanwhile()]).catch(() => undefined)
    const answers = await Promise.all(requests.map((request) => this.send(request).catch(() => undefined)))
    await working
    disarm(host)
    const end = strike.kind === 'fault' ? strike.end : strike.kind
    if (end === 'stop' && host.failure === undefined) await this.restart('clean', false)
    else await this.#fall(end === 'stop' ? 'kill' : end)
    return answers.map((answer) => (answer?.complete === true ? answer : undefined))
  }

  /** The host ends within so many operations of the start that follows on `how`, and starts once more. */
  async strikeStart(how: SuddenEnd, then: SuddenEnd, operations: number): Promise<void> {
    await this.#end(how)
    await this.strikeUp(then, operations)
  }

  /** As `strikeStart`, of a process that has ended. */
  async strikeUp(then: SuddenEnd, operations: number): Promise<void> {
    const host = this.#host
    host.disk.left = operations
    const opened = await startProcess(host, this.#time, this.#starts + 1).catch((error: unknown) => {
      if (host.disk.isOn) throw error
      return undefined
    })
    host.silence()
    await opened?.server.abandon()
    host.comeBack(then)
    await this.#start()
  }

  /** So many milliseconds go by without a request, and at their end the clock says `clock`. */
  async quietUntil(clock: number, milliseconds: number): Promise<void> {
    await this.#server.store.loop.drained()
    this.#time.wallMilliseconds = clock
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    await this.setClock(clock)
  }

  /** The records of what was answered are in the journal before, and one with the new time after. */
  async setClock(clock: number): Promise<void> {
    await this.#server.store.loop.drained()
    this.#time.wallMilliseconds = clock
    await this.send({ method: 'GET', target: '/' })
    await this.#server.store.loop.drained()
  }

  async restart(how: 'clean' | 'crash', rebuilds: boolean): Promise<void> {
    await this.down(how, rebuilds)
    await this.up()
  }

  /** Ends the process. */
  async down(how: 'clean' | 'crash' | 'power', rebuilds: boolean): Promise<void> {
    if (how !== 'clean') await this.#end(how === 'crash' ? 'kill' : how)
    else {
      await this.#stop()
      // What workers had to report met the fault as well.
      this.#host.stopped(!this.#wasStruck)
    }
    if (rebuilds) this.#host.projections.remove(this.#host.paths.projections)
  }

  /** Ends the process in order while requests are on their way. @returns milliseconds of the stopwatch that it took */
  async stopAmid(): Promise<number> {
    await this.#endJobs()
    this.#notePlaces()
    const before = performance.now()
    await this.#server.stop()
    const milliseconds = performance.now() - before
    this.#refuseFailures()
    this.#time.forgetTimers()
    this.#host.stopped()
    return milliseconds
  }

  /** Starts a process, which may be refused: then there is none. @throws what the start is refused with */
  async up(): Promise<void> {
    await this.#start()
  }

  work(steps: number): Promise<void> {
    return this.#jobs.work(steps)
  }

  pass(): Promise<void> {
    return this.#jobs.pass()
  }

  /** Time for deliveries. @returns what arrived in it, and whether nothing is pending any more */
  async deliver(seconds: number): Promise<{ readonly arrivals: readonly Arrival[]; readonly isOver: boolean }> {
    const { arrivals } = this.#host.receivers
    const before = arrivals.length
    const isOver = await this.#jobs.deliver(seconds)
    return { arrivals: arrivals.slice(before), isOver }
  }

  get counts(): StoreCounts {
    return {
      usage: (bucket) => {
        const catalog = this.#server.store.catalog.snapshot()
        return catalog.bucketUsage(bucketIdOf(catalog.bucket(bucket)?.id ?? 0))
      },
      remains: () => this.#remains(),
    }
  }

  /** Stops in order. @throws Error when something is not as it must be then */
  async end(): Promise<void> {
    const { isOver } = await this.deliver(DELIVERY_SECONDS_MAXIMUM)
    if (!isOver) throw new Error('deliveries are pending at the end')
    const events = pageOf(await this.send(listEvents().request)).events
    await this.#stop()
    this.#host.stopped()
    await judge(this.#host, events)
  }

  /** Ends without order, and starts again. */
  async #fall(how: SuddenEnd): Promise<void> {
    await this.#end(how)
    await this.#start()
  }

  async #end(how: SuddenEnd): Promise<void> {
    this.#notePlaces()
    this.#host.silence()
    await this.#jobs.cutOff()
    await this.#server.abandon()
    this.#time.forgetTimers()
    this.#host.comeBack(how)
  }

  async #start(): Promise<void> {
    this.#starts += 1
    this.#wasStruck = false
    const { server, jobs } = await startProcess(this.#host, this.#time, this.#starts)
    this.#server = server
    this.#jobs = jobs
  }

  async #stop(): Promise<void> {
    await this.rest()
    await this.#endJobs()
    this.#notePlaces()
    await this.#server.stop()
    this.#refuseFailures()
    this.#time.forgetTimers()
  }

  /** Notes which operations and routes this process has met. */
  #notePlaces(): void {
    const { met } = this.#host
    const { finished, exchanges, linkRoutes } = this.#server
    for (const { operation } of finished) if (operation !== undefined) met.add(thing('operation', operation.name))
    for (const { operation } of exchanges) if (operation !== undefined) met.add(thing('route', operation))
    for (const route of linkRoutes) met.add(thing('link route', route))
  }

  /** A disk with a fault may not have taken what they report last. */
  async #endJobs(): Promise<void> {
    if (this.#wasStruck) await this.#jobs.cutOff()
    else await this.#jobs.close()
  }

  /** Waits until nothing is on its way in the server. */
  async rest(isExpected: (failure: unknown) => boolean = () => false): Promise<void> {
    const { gate, apiGate, store } = this.#server
    while (gate.active + gate.queued + apiGate.active > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await store.loop.drained()
    const others = this.#server.failures.filter((failure) => !isExpected(failure))
    this.#server.failures.splice(0, this.#server.failures.length, ...others)
    this.#refuseFailures()
  }

  #refuseFailures(): void {
    if (this.#wasStruck) return
    const { failures, undocumented } = this.#server
    const [failure] = [this.#host.failure, ...failures, ...undocumented].filter((one) => one !== undefined)
    if (failure !== undefined) throw new Error(`the server reported a fault of its own: ${failure}`, { cause: failure })
  }

  async #remains(): Promise<string[]> {
    await this.#jobs.finish()
    const catalog = this.#server.store.catalog.snapshot()
    const { physicalBytes } = catalog.totals()
    const { uploads, parts, bytes } = catalog.uploadUsage()
    return [
      ...(await filesThatStay(this.#host)),
      ...(physicalBytes === 0 ? [] : [`${physicalBytes} bytes in the catalog`]),
      ...(uploads + parts + bytes === 0 ? [] : [`${uploads} uploads with ${parts} parts and ${bytes} bytes`]),
    ]
  }
}
