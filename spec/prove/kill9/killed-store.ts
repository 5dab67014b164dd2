import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type Finding, lost, wrong } from '../../support/dying-servers/client-findings.ts'
import { Random } from '../../support/random.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import { VersionClient } from '../../support/dying-servers/version-client.ts'
import { bytesIn, faultsAtRest, filesIn, journalFaults, surplusFiles } from '../store-at-rest.ts'
import { type WatchedOptions, withServer } from '../watched-server.ts'
import { AcknowledgingClient, CRASH_BUCKET, listedKeys } from './acknowledging-client.ts'
import { AGING_SETTINGS, AgingAndEvents, LONG_AGO } from './aging-and-events.ts'
import { journalTally } from './journal-tally.ts'
import type { KillCounts } from './kill-counts.ts'
import { CHECKPOINT_SETTINGS, PublishedNotes } from './published-notes.ts'
import { SNAPSHOT_SETTINGS, SnapshotKills } from './snapshot-kills.ts'

/** Of each kind: on a plain bucket, and on one with versions, locks and uploads. */
const CLIENTS = 3
/** Small, so that segments and volumes are rotated all the time. */
const SETTINGS = {
  OBJECT_STORE_STORAGE_SEGMENT_MIB: '1',
  OBJECT_STORE_STORAGE_COMPRESS_AFTER_HOURS: '0',
  OBJECT_STORE_STORAGE_VOLUME_MIB: '1',
  OBJECT_STORE_LOG_REQUESTS: 'none',
  ...CHECKPOINT_SETTINGS,
  OBJECT_STORE_S3_EXTENSIONS: 'append',
  ...AGING_SETTINGS,
  ...SNAPSHOT_SETTINGS,
}
const WORK_MILLISECONDS_MAXIMUM = 350
/** A busy machine is given the time for so many answers, of which a quiet one has about 60 then. */
const ANSWERS_MAXIMUM = 60
const LOOK_MILLISECONDS = 5
/** One server of so many works until a pass over the lifecycle rules has begun. */
const LONG_WORKS = 6
const PASS_MILLISECONDS = 1000
/** One kill of so many comes before the server accepts requests. */
const START_KILLS = 5
/** The journal is verified after one kill of so many, and at the end. */
const VERIFICATIONS = 4

/** One data directory, whose server is killed again and again, and the clients that know what must be in it. */
export class KilledStore {
  readonly findings: Finding[] = []
  readonly #paths: StorePaths
  readonly #random: Random
  readonly #counts: KillCounts
  readonly #plain: readonly AcknowledgingClient[]
  readonly #versioned: readonly VersionClient[]
  readonly #aging = new AgingAndEvents()
  readonly #snapshots: SnapshotKills
  readonly #notes: PublishedNotes
  #starts = 0
  #startMilliseconds = 500

  /** @param counts where the kills are counted, also those of other stores */
  constructor(dataDirectory: string, seed: number, counts: KillCounts) {
    this.#paths = new StorePaths(dataDirectory)
    this.#random = new Random(seed)
    this.#counts = counts
    this.#snapshots = new SnapshotKills(this.#paths, this.#random, counts)
    this.#notes = new PublishedNotes(dataDirectory, counts)
    const numbers = Array.from({ length: CLIENTS }, (_, index) => index + 1)
    this.#plain = numbers.map((number) => {
      return new AcknowledgingClient(number, this.#random, (requestId) => this.#aging.promise(requestId))
    })
    this.#versioned = numbers.map((number) => new VersionClient(CLIENTS + number, this.#random))
  }

  get #clients(): readonly (AcknowledgingClient | VersionClient)[] {
    return [...this.#plain, ...this.#versioned]
  }

  /** One start and one kill, while it starts or while it works. */
  async cycle(): Promise<void> {
    if (this.#starts > 0) this.#snapshots.lose()
    if (this.#starts === 0) await this.#begin()
    else if (this.#random.below(START_KILLS) === 0) await this.#killInStart()
    else await this.#start((server) => this.#killAtWork(server))
    this.#counts.kills += 1
    this.#snapshots.killed()
    if (this.#random.below(VERIFICATIONS) > 0) return
    for (const fault of await journalFaults(this.#paths, 'killed')) this.#wrong(fault)
    this.findings.push(...this.#notes.judge())
  }

  /** Starts it a last time, compares everything with everything, and removes it if nothing was found. */
  async finish(): Promise<void> {
    await this.#start(async (server) => {
      await this.#check(server)
      this.findings.push(...(await this.#aging.finish(server)))
      for (const path of await surplusFiles(this.#paths)) this.#wrong(`nobody refers to the payload file ${path}`)
      const code = await server.terminate()
      if (code !== 0) this.#wrong(`a stop in order ended with ${code}`)
    })
    for (const fault of (await faultsAtRest(this.#paths)).faults) this.#wrong(fault)
    const tally = journalTally(this.#paths)
    // The kill of a start may come after the entry that tells of it.
    if (tally.starts < this.#starts)
      this.findings.push(lost(`${tally.starts} of ${this.#starts} starts are in the journal`))
    const counts = this.#counts
    this.findings.push(...this.#notes.judge())
    counts.rotations += tally.rotations
    counts.compressed += tally.compressed
    counts.compactions += tally.compactions
    for (const client of this.#clients) counts.acknowledged += client.counts.acknowledged
    counts.removals += this.#aging.removals
    counts.deliveries += this.#aging.deliveries
    await this.#aging.close()
    counts.bytesMaximum = Math.max(counts.bytesMaximum, bytesIn(this.#paths.root))
    if (this.findings.length === 0) rmSync(this.#paths.root, { recursive: true })
  }

  /** The first start, two days ago, whose objects are due later. */
  #begin(): Promise<void> {
    const use = async (server: ProcessServer) => {
      this.#starts += 1
      await this.#aging.prepare(server)
    }
    return this.#withServer(use, {}, LONG_AGO)
  }

  #wrong(text: string): void {
    this.findings.push(wrong(text))
  }

  /** Kills it at some moment of a start, which takes as long as the last one did. */
  async #killInStart(): Promise<void> {
    const after = this.#startMilliseconds * (0.2 + this.#random.below(1000) / 1000)
    await this.#withServer(async () => undefined, {
      spawned: (process) => void setTimeout(() => process.kill('SIGKILL'), after),
      failed: (error, process) => {
        this.#counts.inStart += 1
        if (process?.signalCode !== 'SIGKILL') this.#wrong(`a start failed: ${String(error)}`)
      },
    })
  }

  #start(use: (server: ProcessServer) => Promise<void>): Promise<void> {
    const began = performance.now()
    return this.#withServer((server) => {
      this.#starts += 1
      this.#startMilliseconds = performance.now() - began
      this.#snapshots.started(server.log)
      return use(server)
    })
  }

  #withServer(
    use: (server: ProcessServer) => Promise<void>,
    options: WatchedOptions = {},
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const server = { dataDirectory: this.#paths.root, environment: { ...SETTINGS, ...more }, ...options }
    return withServer(server, (text) => this.#wrong(text), use)
  }

  async #killAtWork(server: ProcessServer): Promise<void> {
    await this.#check(server)
    this.findings.push(...(await this.#snapshots.wait(server)))
    const isLong = this.#random.below(LONG_WORKS) === 0
    const work = this.#random.below(WORK_MILLISECONDS_MAXIMUM) + (isLong ? PASS_MILLISECONDS : 0)
    const running = Promise.all([
      ...this.#clients.map((client) => client.run(server.wire)),
      this.#notes.follow(server.apiEndpoint),
    ])
    await Promise.race([running, this.#untilAnswered(server, this.#random.below(ANSWERS_MAXIMUM), work)])
    if (server.process.exitCode !== null) {
      this.#wrong(`the server ended with ${server.process.exitCode}:\n${server.log.slice(-5).join('\n')}`)
    }
    server.process.kill('SIGKILL')
    await running
    if (this.#versioned.some(({ wasUploading }) => wasUploading)) this.#counts.inMultipart += 1
  }

  /** Resolves when so many more requests were acknowledged, and so much time is over; sooner when the server ends. */
  async #untilAnswered({ process }: ProcessServer, count: number, milliseconds: number): Promise<void> {
    const acknowledged = () => this.#clients.reduce((sum, { counts }) => sum + counts.acknowledged, 0)
    const wanted = acknowledged() + count
    const over = performance.now() + milliseconds
    while (performance.now() < over || acknowledged() < wanted) {
      if (process.exitCode !== null || process.signalCode !== null) return
      await pause(LOOK_MILLISECONDS)
    }
  }

  /** Everything acknowledged is there, and nothing else. */
  async #check(server: ProcessServer): Promise<void> {
    for (const name of filesIn(this.#paths.uploads)) this.#wrong(`left behind by an upload: ${name}`)
    const found = await Promise.all(this.#clients.map((client) => client.check(server.wire)))
    this.findings.push(...found.flat(), ...(await this.#aging.check(server)))
    this.findings.push(...(await this.#notes.check(server.apiEndpoint)))
    const keys = await listedKeys(server.wire)
    const present = this.#plain.flatMap((client) => client.present).toSorted()
    if (keys.join() !== present.join()) this.#wrong(`${CRASH_BUCKET} lists ${keys.join()} instead of ${present.join()}`)
  }
}
