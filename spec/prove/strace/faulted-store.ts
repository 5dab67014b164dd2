import type { ChildProcess } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type Finding, wrong } from '../../support/dying-servers/client-findings.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import { TRACEABLE, type TracedCall, trace, tracedCalls, traceEnded } from '../../support/disks/system-call-tracer.ts'
import { faultsAtRest, journalFaults } from '../store-at-rest.ts'
import { type WatchedOptions, withServer } from '../watched-server.ts'
import { CALLS, type FaultCase, FAULTS } from './fault-table.ts'
import type { InjectionTally } from './injection-tally.ts'
import { Ledger, LEDGER_BUCKET } from './ledger.ts'
import type { Script } from './scripted-work.ts'
import { AREAS, type Area, tracedPaths } from './traced-paths.ts'

const SETTINGS = {
  ...TRACEABLE,
  OBJECT_STORE_STORAGE_SEGMENT_MIB: '1',
  OBJECT_STORE_STORAGE_VOLUME_MIB: '1',
  OBJECT_STORE_LOG_REQUESTS: 'none',
}
const READS_RECORDED_MILLISECONDS = 60
/** Tenths of a second that a server which is failing has to end. */
const ENDING_LOOKS = 50

interface Tracing {
  readonly calls: readonly string[]
  readonly areas: readonly Area[]
  readonly injection?: Pick<FaultCase, 'fault' | 'number'>
}

/** One data directory, whose server meets one fault in each of its lives, and a ledger of what must be in it. */
export class FaultedStore {
  readonly findings: Finding[] = []
  readonly #paths: StorePaths
  readonly #log: string
  readonly #tally: InjectionTally
  readonly #ledger = new Ledger()
  #lives = 0
  #workEnded = 0
  /** Whether the fault of the last life took place. */
  #wasHit = false

  /** @param directory empty, for the data directory and the log of the tracer */
  constructor(directory: string, tally: InjectionTally) {
    this.#paths = new StorePaths(join(directory, 'data'))
    this.#log = join(directory, 'trace')
    this.#tally = tally
  }

  /** The calls of a script, in each area, when nothing fails. */
  async count(script: Script): Promise<Map<Area, TracedCall[]>> {
    await this.#life(script, { calls: CALLS, areas: AREAS })
    const calls = tracedCalls(this.#log).filter(({ began }) => began < this.#workEnded)
    const isProjections = ({ path }: TracedCall) => path.startsWith(this.#paths.projections)
    return new Map([
      ['store', calls.filter((call) => !isProjections(call))],
      ['projections', calls.filter(isProjections)],
    ])
  }

  /**
   * One life of the server with one fault in it, and the check that comes first in the next.
   * @returns false when the call was not made this time
   */
  async try({ script, area, call, fault, number }: FaultCase): Promise<boolean> {
    this.#wasHit = false
    this.#tally.tried(call)
    await this.#life(script, { calls: [call], areas: [area], injection: { fault, number } })
    const found = this.findings.splice(0)
    const where = `${fault} at ${call} ${number} of ${script.name} on ${area}`
    this.findings.push(...found.map(({ kind, text }) => ({ kind, text: `${where}: ${text}` })))
    return this.#wasHit
  }

  /** Starts it a last time, compares everything with everything, and removes it if nothing was found. */
  async finish(): Promise<void> {
    await this.#withServer({}, async (server) => {
      await this.#check(server)
      const code = await server.terminate()
      if (code !== 0) this.#wrong(`a stop in order ended with ${code}`)
    })
    for (const fault of (await faultsAtRest(this.#paths)).faults) this.#wrong(fault)
    this.#tally.acknowledged += this.#ledger.acknowledged
    if (this.findings.length === 0) rmSync(this.#paths.root, { recursive: true })
  }

  #wrong(text: string): void {
    this.findings.push(wrong(text))
  }

  /** A start without a fault, at which everything is read back, then the traced work, then kill -9. */
  async #life(script: Script, tracing: Tracing): Promise<void> {
    await this.#withServer({}, async (server) => {
      await this.#check(server)
      await script.prepare(server.wire, this.#ledger, this.#paths)
      if (script.inStart) return
      // The records of the reads before are written by then, and are no part of what is counted.
      await pause(READS_RECORDED_MILLISECONDS)
      const strace = this.#trace(server.process, tracing)
      await strace
      await this.#faulted(server, script)
      await this.#settle(server.process, await strace, tracing)
    })
    if (script.inStart) await this.#faultedStart(script, tracing)
    for (const fault of await journalFaults(this.#paths, 'killed')) this.#wrong(fault)
  }

  #trace(process: ChildProcess, { calls, areas, injection }: Tracing): Promise<ChildProcess> {
    const paths = areas.flatMap((area) => tracedPaths(this.#paths, area))
    const words = injection && { injection: `${FAULTS[injection.fault]}:when=${injection.number}` }
    return trace(process, { calls, paths, log: this.#log, ...words })
  }

  /** The fault comes before the server listens: it is stopped until it is traced. */
  async #faultedStart(script: Script, tracing: Tracing): Promise<void> {
    let process: ChildProcess | undefined
    let strace: Promise<ChildProcess> | undefined
    const spawned = (child: ChildProcess) => {
      process = child
      child.kill('SIGSTOP')
      strace = this.#trace(child, tracing).finally(() => child.kill('SIGCONT'))
      // Told of below, when it is waited for.
      strace.catch(() => undefined)
    }
    await this.#withServer({ spawned, failed: () => undefined }, (server) => this.#faulted(server, script))
    try {
      if (process !== undefined && strace !== undefined) await this.#settle(process, await strace, tracing)
    } catch (error) {
      this.#wrong(String(error))
    }
  }

  /** The work of a script, and what can be seen of it before the server is killed. */
  async #faulted(server: ProcessServer, script: Script): Promise<void> {
    const outcome = await script.work(server.wire, this.#ledger)
    this.#workEnded = Date.now() / 1000
    this.findings.push(...(await this.#ledger.look(server.wire)))
    if (outcome === 'cut off' || outcome === 'failing') await mayEnd(server.process)
  }

  /** Ends the server, and counts what was injected. */
  async #settle(
    process: ChildProcess,
    strace: ChildProcess,
    { calls: [call = ''], injection }: Tracing,
  ): Promise<void> {
    const wentOn = isRunning(process)
    if (wentOn) process.kill('SIGKILL')
    await traceEnded(strace)
    if (injection === undefined) return
    const { fault, number } = injection
    const how = wentOn ? 'went on' : (process.signalCode ?? `exit ${process.exitCode}`)
    // A crash of native code costs a restart and must cost nothing else (J14).
    this.#tally.ended(process.signalCode === 'SIGSEGV' ? `${how} by ${fault} at ${call} ${number}` : how)
    const calls = tracedCalls(this.#log)
    const hit = fault === 'SIGKILL' ? killedIn(calls, number) : calls.filter(({ injected }) => injected)
    for (const one of hit) this.#tally.injected(call, this.#placeOf(one))
    this.#wasHit = hit.length > 0
  }

  /** `journal`, `volumes`, `files`, `tmp`, `projections`; the directory itself where it is one. */
  #placeOf({ path }: TracedCall): string {
    const [first = '', second = ''] = relative(this.#paths.root, path).split(sep)
    return first === 'payloads' ? second : first
  }

  #withServer(options: WatchedOptions, use: (server: ProcessServer) => Promise<void>): Promise<void> {
    const server = { dataDirectory: this.#paths.root, environment: SETTINGS, ...options }
    return withServer(server, (text) => this.#wrong(text), use)
  }

  async #check(server: ProcessServer): Promise<void> {
    this.#lives += 1
    if (this.#lives === 1) {
      const { status, text } = await server.wire.send('PUT', `/${LEDGER_BUCKET}`)
      if (status !== 200) throw new Error(`${status} ${text}`)
    }
    for (const name of readdirSync(this.#paths.uploads)) this.#wrong(`left behind by an upload: ${name}`)
    this.findings.push(...(await this.#ledger.check(server.wire)))
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}

/** Waits for the end of a server that is failing. */
async function mayEnd(process: ChildProcess): Promise<void> {
  for (let look = 0; look < ENDING_LOOKS && isRunning(process); look += 1) await pause(100)
}

/** The call of a thread, by its number there, that never returned. */
function killedIn(calls: readonly TracedCall[], number: number): TracedCall[] {
  const isTheOne = (call: TracedCall) =>
    calls.filter(({ thread }) => thread === call.thread).indexOf(call) === number - 1
  return calls.filter((call) => call.ended === undefined && isTheOne(call)).slice(0, 1)
}
