import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type Finding, lost, wrong } from '../../support/dying-servers/client-findings.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import { VERSION_BUCKET, VersionClient } from '../../support/dying-servers/version-client.ts'
import type { WireClient } from '../../support/wire-client.ts'
import { AcknowledgingClient, CRASH_BUCKET } from '../kill9/acknowledging-client.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { journalFaults } from '../store-at-rest.ts'
import { withServer } from '../watched-server.ts'
import { type CommandEnd, killAfter, runCommand } from './command-process.ts'

export interface BackupCounts {
  backups: number
  /** While clients wrote and deleted. */
  underLoad: number
  killedBackups: number
  restores: number
  killedRestores: number
  acknowledged: number
  /** By compaction. */
  removedVolumes: number
}

export function noBackups(): BackupCounts {
  return {
    backups: 0,
    underLoad: 0,
    killedBackups: 0,
    restores: 0,
    killedRestores: 0,
    acknowledged: 0,
    removedVolumes: 0,
  }
}

const CLIENTS = 3
/** Small, so that segments and volumes are rotated and compacted all the time. */
const SETTINGS = {
  OBJECT_STORE_STORAGE_SEGMENT_MIB: '1',
  OBJECT_STORE_STORAGE_VOLUME_MIB: '1',
  OBJECT_STORE_LOG_REQUESTS: 'none',
  OBJECT_STORE_S3_EXTENSIONS: 'append',
}
const BUCKET = 'stable'
/** In a volume and in a file of its own. */
const SIZES = [3000, 200_000] as const
const WORK_MILLISECONDS = 500
const KILL_WITHIN_MILLISECONDS = 600
const KILLS_AT_WORK = 2
const PRUNES = 3

/** Exit codes of commands. */
const EXIT = { ok: 0, usage: 2, losses: 3, notFound: 4 } as const

/** An object that was acknowledged before a backup began, and never changed. */
interface Stable {
  readonly path: string
  readonly bytes: Buffer
}

/** One store: written, backed up and killed, then replaced by what was restored from its backup, again and again. */
export class BackedUpStore {
  readonly findings: Finding[] = []
  readonly #random: Random
  readonly #counts: BackupCounts
  readonly #clients: readonly (AcknowledgingClient | VersionClient)[]
  readonly #stable: Stable[] = []
  readonly #data: string
  readonly #backup: string
  readonly #restored: string
  #isNew = true
  #finished = false
  /** Whether a backup since the one under load kept the payloads of its own point only. */
  #isPruned = false

  constructor(directory: string, seed: number, counts: BackupCounts) {
    this.#data = join(directory, 'data')
    this.#backup = join(directory, 'backup')
    this.#restored = join(directory, 'restored')
    this.#random = new Random(seed)
    this.#counts = counts
    const numbers = Array.from({ length: CLIENTS }, (_, index) => index + 1)
    this.#clients = [
      ...numbers.map((number) => new AcknowledgingClient(number, this.#random)),
      ...numbers.map((number) => new VersionClient(CLIENTS + number, this.#random)),
    ]
  }

  async cycle(): Promise<void> {
    const point = await this.#work()
    await this.#backUpAtRest()
    if (point !== undefined) await this.#restorePoint(point)
    await this.#restoreNewest()
    for (const client of this.#clients) {
      this.#counts.acknowledged += client.counts.acknowledged
      client.counts.acknowledged = 0
    }
  }

  /** Clients work while a backup is made; then the server is killed. Returns what the backup has for certain. */
  async #work(): Promise<{ readonly sequence: number; readonly stable: number } | undefined> {
    let point: { readonly sequence: number; readonly stable: number } | undefined
    await this.#withServer(this.#data, async (server) => {
      if (this.#isNew) await this.#begin(server.wire)
      const running = Promise.all(this.#clients.map((client) => client.run(server.wire)))
      await pause(this.#random.below(WORK_MILLISECONDS))
      for (let number = 0; number < 2; number += 1) await this.#putStable(server.wire)
      const stable = this.#stable.length
      const { underLoad, killedBackups } = this.#counts
      const isKilled = underLoad > 0 && (killedBackups === 0 || this.#random.below(2) === 0)
      const working = this.#backUp(isKilled)
      // Otherwise the server dies under the backup.
      const isCalm = this.#random.below(KILLS_AT_WORK) === 0 || underLoad === 0
      if (isCalm) await working
      else await pause(this.#random.below(KILL_WITHIN_MILLISECONDS))
      server.process.kill('SIGKILL')
      const [{ code, output }] = await Promise.all([working, running])
      if (code !== EXIT.ok) return
      this.#counts.underLoad += 1
      this.#isPruned = false
      point = { sequence: (JSON.parse(output) as { readonly sequence: number }).sequence, stable }
    })
    return point
  }

  async #begin(wire: WireClient): Promise<void> {
    for (const bucket of [CRASH_BUCKET, BUCKET]) await wire.send('PUT', `/${bucket}`)
    await wire.send('PUT', `/${VERSION_BUCKET}`, { headers: [['x-amz-bucket-object-lock-enabled', 'true']] })
    this.#isNew = false
  }

  async #putStable(wire: WireClient): Promise<void> {
    const number = this.#stable.length
    const bytes = sampleBytes(SIZES[number % SIZES.length] as number, number + 1)
    const path = `/${BUCKET}/${number}`
    const { status } = await wire.send('PUT', path, { body: bytes })
    if (status !== 200) throw new Error(`${path}: ${status}`)
    this.#stable.push({ path, bytes })
  }

  async #backUp(isKilled: boolean): Promise<CommandEnd> {
    const spawned = isKilled ? killAfter(this.#random.below(KILL_WITHIN_MILLISECONDS)) : undefined
    const prune = this.#random.below(PRUNES) === 0 ? ['--prune'] : []
    const end = await runCommand(['backup', this.#backup, '--data-dir', this.#data, '--json', ...prune], spawned)
    this.#counts.backups += 1
    if (end.code === null) this.#counts.killedBackups += 1
    else if (end.code !== EXIT.ok) this.#wrong(`a backup ended with ${end.code}: ${end.errors}${end.output}`)
    if (end.code === EXIT.ok) this.#finished = true
    // A kill may come after its end.
    if (prune.length > 0) this.#isPruned = true
    await this.#verify()
    return end
  }

  /** A backup is whole at its newest point at any time, or there is none yet. */
  async #verify(): Promise<void> {
    const { code, output, errors } = await runCommand(['backup', 'verify', this.#backup, '--json'])
    if (code === EXIT.ok || (code === EXIT.notFound && !this.#finished)) return
    this.findings.push(lost(`the backup is not whole: ${code} ${output} ${errors}`))
  }

  /** Nobody writes: afterwards the backup has everything that was ever acknowledged. */
  async #backUpAtRest(): Promise<void> {
    const backUp = async (): Promise<void> => void (await this.#backUp(false))
    if (this.#random.below(2) === 0) await backUp()
    else await this.#withServer(this.#data, backUp)
  }

  /** What a backup under load has: everything that was there before it began. */
  async #restorePoint({ sequence, stable }: { readonly sequence: number; readonly stable: number }): Promise<void> {
    const words = ['restore', this.#backup, '--to', this.#restored, '--at', String(sequence), '--accept-losses']
    const { code, errors, output } = await runCommand([...words, '--json'])
    if (code !== EXIT.ok && code !== EXIT.losses) {
      return this.#wrong(`a restore to ${sequence} ended with ${code}: ${errors}`)
    }
    const { losses } = JSON.parse(output) as { readonly losses: readonly string[] }
    if (losses.length > 0 && !this.#isPruned) this.#wrong(`a restore to ${sequence} had losses: ${losses.join('; ')}`)
    this.#counts.restores += 1
    await this.#withServer(this.#restored, ({ wire }) => this.#checkStable(wire, stable, losses))
    rmSync(this.#restored, { recursive: true })
  }

  async #restoreNewest(): Promise<void> {
    await this.#killedRestore()
    const { code, errors } = await runCommand(['restore', this.#backup, '--to', this.#restored])
    if (code !== EXIT.ok) return this.#wrong(`a restore ended with ${code}: ${errors}`)
    this.#counts.restores += 1
    for (const fault of await journalFaults(new StorePaths(this.#restored), 'killed')) this.#wrong(fault)
    await this.#withServer(this.#restored, async (server) => {
      const found = await Promise.all(this.#clients.map((client) => client.check(server.wire)))
      this.findings.push(...found.flat())
      await this.#checkStable(server.wire, this.#stable.length)
      const exit = await server.terminate()
      if (exit !== 0) this.#wrong(`the restored store ended with ${exit}`)
    })
    this.#tally()
    if (this.findings.length > 0) return
    rmSync(this.#data, { recursive: true })
    renameSync(this.#restored, this.#data)
  }

  /** What a killed restore leaves is no store, unless it was killed after its end. */
  async #killedRestore(): Promise<void> {
    const kill = killAfter(this.#random.below(KILL_WITHIN_MILLISECONDS))
    const { code } = await runCommand(['restore', this.#backup, '--to', this.#restored], kill)
    if (code === null) {
      this.#counts.killedRestores += 1
      const paths = new StorePaths(this.#restored)
      if (existsSync(paths.restoring) && !existsSync(paths.journal)) {
        const { code: start } = await runCommand(['server', '--data-dir', this.#restored], killAfter(20_000))
        if (start !== EXIT.usage) this.#wrong(`a server on half a restore ended with ${start}`)
      }
    }
    rmSync(this.#restored, { recursive: true, force: true })
  }

  /** @param losses payloads that the restore said it has to do without, each with its length: that many may be missing */
  async #checkStable(wire: WireClient, count: number, losses: readonly string[] = []): Promise<void> {
    const told = [...losses]
    for (const { path, bytes } of this.#stable.slice(0, count)) {
      const { status, body } = await wire.send('GET', path)
      if (status === 200 && body.equals(bytes)) continue
      const toldAt = told.findIndex((loss) => loss.includes(`, ${bytes.length} bytes,`))
      if (status === 409 && toldAt !== -1) told.splice(toldAt, 1)
      else this.findings.push(lost(`${path}: ${status}, ${body.length} bytes, and ${losses.length} losses were told`))
    }
  }

  #tally(): void {
    const names = journalEntries(this.#restored).flatMap(({ changes }) => changes.map(({ name }) => name))
    this.#counts.removedVolumes = names.filter((name) => name === 'volume.removed').length
    if (!names.includes('journal.restored')) this.#wrong('the journal does not say that it was restored')
  }

  #withServer(dataDirectory: string, use: (server: ProcessServer) => Promise<void>): Promise<void> {
    return withServer({ dataDirectory, environment: SETTINGS }, (text) => this.#wrong(text), use)
  }

  #wrong(text: string): void {
    this.findings.push(wrong(text))
  }
}
