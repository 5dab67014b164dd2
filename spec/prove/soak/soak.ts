/** The proof `soak`: a server under mixed load that is ended and started again, and that must not grow, err or lose. */
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { Random } from '../../support/random.ts'
import { type ProcessServer, startProcess } from '../../support/server-process.ts'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { askWhileInProgress, burst } from './burst.ts'
import { checkAtRest, checkRunning } from './final-check.ts'
import { clientGrowth, growthOf, type LifeGauges, lifeLine } from './growth.ts'
import { Life, NoAnswerError } from './life.ts'
import { MemoryWatch } from './process-gauges.ts'
import { quietPoint } from './quiet-point.ts'
import { abortUploads, BUCKETS, CONNECTIONS, rootClients, Roster } from './roster.ts'
import { EVENTS, REQUIRED_KINDS } from './soak-kinds.ts'
import { Tally } from './tally.ts'

const FRONT_ENDS = 2
const VOLUME_MEBIBYTES = 8
/** Fewer places than connections and bursts together, more than the connections alone take. */
const PLACES = { running: 128, waiting: 256 } as const
const SETTINGS = {
  OBJECT_STORE_STORAGE_VOLUME_MIB: String(VOLUME_MEBIBYTES),
  OBJECT_STORE_LIMITS_MAXIMUM_CONCURRENT_OPERATIONS: String(PLACES.running),
  OBJECT_STORE_LIMITS_MAXIMUM_QUEUED_OPERATIONS: String(PLACES.waiting),
  OBJECT_STORE_LIMITS_QUEUE_WAIT_SECONDS: '5',
  // The log is kept in memory, so it must not have a line for each request.
  OBJECT_STORE_LOG_REQUESTS: 'none',
}
/** A life takes once to twice so long, and less in a run that is short: there are restarts in every run. */
const LIFE_SECONDS = 60
const LIVES_MINIMUM = 8
const RESTARTS_MINIMUM = 3
/** So many lives are waited for a kind of request that is still missing. */
const LIVES_MAXIMUM = 12
/** One life of a long run is so long, which tells whether memory grows within a life. */
const LONG_LIFE_SECONDS = 360
const LONG_LIFE_PART_MAXIMUM = 0.3
/** When in a life it happens. */
const BURST_AT = 0.3
const QUIET_AT = 0.6
const PROGRESS_MILLISECONDS = 10_000
const ENDING_MILLISECONDS_MAXIMUM = 90_000
const ERROR_LINE = /"level":"(?:error|fatal)"/

export const soak: Proof = {
  name: 'soak',
  tries: 'that a server under mixed load, ended and started again, neither errs, loses nor grows',
  unit: 'seconds',
  amount: 60,
  run: (task) => new Soak(task).run(),
}

class Soak {
  readonly #task: ProofTask
  readonly #random: Random
  readonly #tally: Tally
  readonly #startedAt = performance.now()
  readonly #dataDirectory: string
  readonly #gauges: LifeGauges[] = []
  /** RSS of this process in MiB at the end of each life. */
  readonly #client: number[] = []
  /** How long this process was busy or not run at a time: answers may have waited for that and not for the server. */
  readonly #delay = monitorEventLoopDelay()
  #roster: Roster | undefined
  #progress = ''
  #restarts = 0

  constructor(task: ProofTask) {
    this.#task = task
    this.#random = new Random(task.seed)
    this.#tally = new Tally(task.say)
    this.#dataDirectory = join(task.directory, 'data')
  }

  async run(): Promise<ProofResult> {
    this.#delay.enable()
    const timer = setInterval(() => this.#sayProgress(), PROGRESS_MILLISECONDS)
    try {
      await this.#liveOn(this.#task.amount)
      this.#judge(await this.#finish())
    } catch (error) {
      this.#tally.finding('error', `it could not go on: ${String(error)}`)
    } finally {
      clearInterval(timer)
      this.#delay.disable()
    }
    return resultOf(this.#task.amount, this.#tally, this.#restarts)
  }

  async #liveOn(seconds: number): Promise<void> {
    let gracefully = this.#random.below(2) === 0
    while (this.#seconds < seconds || this.#restarts < RESTARTS_MINIMUM || this.#waitsForKinds) {
      if (this.#seconds >= seconds && this.#waitsForKinds)
        this.#task.say(`still to be tried: ${this.#missingKinds.join(', ')}`)
      await this.#live(this.#lifeSeconds(seconds), gracefully ? 'graceful' : 'kill')
      gracefully = !gracefully
    }
  }

  #judge(sizes: string): void {
    for (const grown of [...growthOf(this.#gauges), ...clientGrowth(this.#client)]) this.#tally.finding('growth', grown)
    for (const kind of this.#missingKinds) this.#tally.finding('error', `never tried: ${kind}`)
    const events = [...this.#tally.events].map(([event, count]) => `${event}: ${count}`)
    const lines = [...this.#tally.lines(), ...events, ...this.#gauges.map(lifeLine), sizes]
    for (const line of lines) this.#task.say(line)
  }

  /** A busy machine, or a short run, may not come to all kinds in its time. */
  get #waitsForKinds(): boolean {
    return this.#restarts < LIVES_MAXIMUM && this.#missingKinds.length > 0
  }

  get #missingKinds(): readonly string[] {
    return REQUIRED_KINDS.filter((kind) => !this.#tally.has(kind))
  }

  get #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000
  }

  #lifeSeconds(total: number): number {
    const isLong = this.#gauges.length === 1 && LONG_LIFE_SECONDS <= LONG_LIFE_PART_MAXIMUM * total
    return isLong
      ? LONG_LIFE_SECONDS
      : Math.min(LIFE_SECONDS, total / LIVES_MINIMUM) * (1 + this.#random.below(1000) / 1000)
  }

  /** One life with everything that happens in it. */
  async #live(seconds: number, ending: 'graceful' | 'kill'): Promise<void> {
    const { life, server } = await this.#start()
    const watch = new MemoryWatch(() => (life.isEnding ? undefined : server.process.pid))
    const answeredBefore = this.#tally.sum('answered')
    let descriptorsQuiet: number | undefined
    this.#progress = `life ${life.number}`
    const root = rootClients(life, true)
    try {
      this.#roster ??= await Roster.make(life, this.#task.seed, this.#tally)
      await this.#roster.check(life)
      const working = this.#roster.work(life)
      const beganAt = performance.now()
      const until = (part: number) => sleep(Math.max(0, beganAt + part * seconds * 1000 - performance.now()))
      await until(BURST_AT)
      await burst(root, PLACES.running + PLACES.waiting, this.#task.seed + life.number * 10_000, this.#tally)
      await until(QUIET_AT)
      descriptorsQuiet = await this.#quiet(root)
      await until(1)
      this.#progress = `life ${life.number}, ${watch.readings.at(-1)?.[1].toFixed(0)} MiB`
      await this.#end(root, server, ending)
      await this.#rest(working)
    } catch (error) {
      // What had no answer while the server runs is a finding already.
      if (!(error instanceof NoAnswerError)) throw error
    } finally {
      this.#restarts += 1
      life.begunToEnd('kill')
      root.close()
      watch.stop()
      const requests = this.#tally.sum('answered') - answeredBefore
      const { seconds: lived, readings: anonymous } = watch
      this.#gauges.push({ number: life.number, seconds: lived, requests, anonymous, descriptorsQuiet })
      this.#client.push(process.memoryUsage.rss() / 1024 ** 2)
      await server.kill9()
      this.#readLog(life, server)
    }
  }

  /** Returns how many descriptors were open that are neither sockets nor volumes. */
  async #quiet(root: ReturnType<typeof rootClients>): Promise<number> {
    const { descriptors, held } = await quietPoint(root, CONNECTIONS)
    for (const what of held) this.#tally.finding('growth', `life ${root.life.number}, at a quiet point: ${what}`)
    if (held.length === 0) this.#tally.happened(EVENTS.quiet)
    return descriptors.payloads + descriptors.deleted + descriptors.others
  }

  async #start(): Promise<{ readonly life: Life; readonly server: ProcessServer }> {
    const number = this.#gauges.length + 1
    const encrypts = this.#random.below(2) === 0 || number === 2
    const server = await startProcess({
      dataDirectory: this.#dataDirectory,
      frontEnds: FRONT_ENDS,
      environment: { ...SETTINGS, OBJECT_STORE_STORAGE_ENCRYPTION_ENABLED: String(encrypts) },
    })
    if (encrypts) this.#tally.happened(EVENTS.encrypted)
    const life = new Life(number, server, this.#tally, new Random(this.#task.seed + number))
    server.process.once('exit', (code, signal) => {
      if (life.isEnding) return
      this.#tally.finding('error', `life ${number}: the server ended by itself, ${code ?? signal}`)
      life.begunToEnd('kill')
    })
    return { life, server }
  }

  async #end(root: ReturnType<typeof rootClients>, server: ProcessServer, how: 'graceful' | 'kill'): Promise<void> {
    const { life } = root
    if (how === 'kill') {
      life.begunToEnd(how)
      await server.kill9()
    } else {
      let ended: Promise<number | null> | undefined
      await askWhileInProgress(root, this.#task.seed - life.number * 10_000, this.#tally, () => {
        life.begunToEnd(how)
        ended = server.terminate()
      })
      const code = await ended
      if (code !== 0) this.#tally.finding('error', `life ${life.number} was asked to end and ended with ${code}`)
    }
    this.#tally.happened(EVENTS[how])
  }

  /** A server that is gone answers nobody: all must notice. */
  async #rest(working: Promise<void>): Promise<void> {
    const isDone = await Promise.race([
      working.then(() => true),
      sleep(ENDING_MILLISECONDS_MAXIMUM, false, { ref: false }),
    ])
    if (!isDone) throw new Error('the load does not come to an end')
  }

  async #finish(): Promise<string> {
    this.#progress = 'the final check'
    const paths = new StorePaths(this.#dataDirectory)
    const { life, server } = await this.#start()
    const root = rootClients(life, true)
    try {
      await this.#roster?.check(life)
      await abortUploads(root)
      const live = await checkRunning(root, paths, BUCKETS, VOLUME_MEBIBYTES, this.#tally)
      root.close()
      life.begunToEnd('graceful')
      const code = await server.terminate()
      if (code !== 0) this.#tally.finding('error', `the last life ended with ${code}`)
      this.#readLog(life, server)
      return await checkAtRest(paths, live, this.#tally)
    } finally {
      await server.kill9()
    }
  }

  #readLog(life: Life, { log }: ProcessServer): void {
    for (const line of log) {
      if (ERROR_LINE.test(line)) this.#tally.finding('error', `the log of life ${life.number}: ${line}`)
    }
  }

  #sayProgress(): void {
    const answered = this.#tally.sum('answered').toLocaleString('en')
    const { error, lost, growth } = this.#tally.found
    const found = `${error} errors, ${lost} lost, ${growth} grown`
    const delay = `load held up for ${(this.#delay.max / 1e6).toFixed(0)} ms`
    this.#delay.reset()
    const done = `${answered} requests, ${this.#restarts} restarts, ${found}`
    this.#task.say(`${this.#seconds.toFixed(0)} s: ${done}; ${this.#progress}; ${delay}`)
  }
}

export function resultOf(seconds: number, tally: Tally, restarts: number): ProofResult {
  const { error, lost, growth } = tally.found
  const requests = tally.sum('answered').toLocaleString('en')
  const grown = growth === 0 ? 'no growth' : `${growth} signs of growth`
  return {
    summary: `${seconds} seconds, ${requests} requests, ${restarts} restarts, ${error} errors, ${lost} lost, ${grown}`,
    passed: error + lost + growth === 0,
  }
}
