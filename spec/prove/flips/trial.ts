/** One flip: the store starts, is asked, changed and scrubbed, ends, and starts again. */
import { cpSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { OpeningReport } from '../../../cli/server/store/opened-store.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { isRowDamage } from '../../../engine/errors.ts'
import { COUNTED_ROWS_MAXIMUM, RowWalk } from '../../../projections/row-walk.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { SnapshotWalk } from '../../../projections/snapshots/snapshot-walk.ts'
import { SNAPSHOT_PIECE_BYTES } from '../../../workers/check-snapshots.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { roomyDisk } from '../../support/test-store.ts'
import { type Flip, turn as turnBit } from './flip.ts'
import { type FlippedServer, scrubbed, segmentsNamed, startFlipped } from './flipped-server.ts'
import { Answers, ask, askFor, namesDamage } from './questions.ts'
import { BOOT, type Images, type Known, NEXT_BOOT, sha256 } from './whole-store.ts'

const ROWS_OF_STEP = 2000
/** Keys of the bucket without versions that a trial changes. */
const WRITTEN = ['key-3', 'new-1', 'new-2'] as const
const DELETED = 'key-4'
/** Of flips that are named, after every so many rows and trees are compared with the journal, as after each that is not. */
const CHECKED_EVERY = 8
/** A pass of the scrub over all of them shows more of these. */
const OF_PAYLOADS = new Set(['volume', 'payload file', 'spare volume'])
const REFUSALS = new Set([
  'JournalDamagedError',
  'ColdSegmentDamagedError',
  'AcknowledgedDataLostError',
  'MasterKeyMismatchError',
  'NewerFormatError',
  'StoreUnreleasedError',
  'RowDamagedError',
])

/** How an engine ends that may not go on; the next start recovers. */
const ENDS = new Set(['JournalPoisonedError', 'VolumeFailedError', 'ProjectionFailedError'])

export type Verdict = 'refused' | 'named' | 'made again' | 'without effect' | 'wrong'

export interface Judgement {
  readonly verdict: Verdict
  /** Who named it. */
  readonly by: readonly string[]
  /** What is wrong. */
  readonly wrong: readonly string[]
}

export class Trial {
  readonly #images: Images
  /** Before this process changes something. */
  #known: Known
  readonly #root: string
  readonly #flip: Flip
  readonly #number: number
  readonly #by = new Set<string>()
  readonly #wrong: string[] = []

  /** @param root data directory, which is removed first unless the process ended in the trial before */
  constructor(images: Images, root: string, flip: Flip, number: number) {
    this.#images = images
    this.#known = images.known
    this.#root = root
    this.#flip = flip
    this.#number = number
  }

  async run(): Promise<Judgement> {
    const { moment } = this.#flip
    rmSync(this.#root, { recursive: true, force: true })
    cpSync(this.#image, this.#root, { recursive: true })
    if (moment !== 'running') turnBit(this.#root, this.#flip)
    const server = await this.#start(moment === 'after a power cut' ? NEXT_BOOT : BOOT)
    if (server === undefined) return this.#refused(this.#known)
    // A start has removed the file, or made it again with another length.
    if (moment === 'running' && this.#isThere()) turnBit(this.#root, this.#flip)
    return this.#live(server)
  }

  /** Goes on after the process ended in it. */
  async goOn(): Promise<Judgement> {
    this.#by.add('the end of the process')
    const { objects } = this.#known
    const unsure = [...WRITTEN, DELETED].map((key) => `plain/${key}`)
    this.#known = {
      ...this.#known,
      objects: objects.filter(({ bucket, key }) => !unsure.includes(`${bucket}/${key}`)),
      unsure,
    }
    const server = await this.#start(this.#flip.moment === 'after a power cut' ? NEXT_BOOT : BOOT)
    return server === undefined ? this.#refused(this.#known) : this.#live(server)
  }

  get #image(): string {
    const { moment } = this.#flip
    return moment === 'stopped' || moment === 'running' ? this.#images.stopped : this.#images.killed
  }

  async #live(server: FlippedServer): Promise<Judgement> {
    const known = await this.#look(server)
    const isOrderly = this.#number % 2 === 0
    await (isOrderly && server.fatal.length === 0 ? server.stop() : server.abandon())
    const again = await this.#start(this.#number % 4 < 2 ? BOOT : NEXT_BOOT)
    if (again === undefined) return this.#refused(known)
    this.#take(await ask(again, known, this.#number + 5), 'after the next start')
    await again.stop()
    return this.#judge()
  }

  async #start(bootId: string): Promise<FlippedServer | undefined> {
    try {
      const server = await startFlipped(this.#root, bootId)
      this.#report(server.store.report)
      return server
    } catch (error) {
      if (!(error instanceof Error) || !REFUSALS.has(error.name)) {
        this.#wrong.push(`the start fails and does not say why: ${String((error as Error).stack ?? error)}`)
      }
      this.#by.add(`a start that is refused: ${(error as Error).name}`)
      return undefined
    }
  }

  #report({ discardedProjections, refusedSnapshots, cut }: OpeningReport): void {
    const isOfPower = discardedProjections?.startsWith('the host stopped') ?? true
    if (!isOfPower) this.#by.add('a start that makes the rows again')
    if (refusedSnapshots.length > 0) this.#by.add('a start that refuses a snapshot')
    if (cut !== undefined) this.#by.add('a start that cuts the journal')
  }

  /** What is known after some changes. */
  async #look(server: FlippedServer): Promise<Known> {
    this.#take(await ask(server, this.#known, this.#number), 'first')
    const known = await this.#change(server)
    await this.#scrub(server)
    this.#take(await askFor(server, known, this.#number + 3), 'after the scrub')
    await server.store.loop.drained()
    for (const error of server.fatal) {
      const { name } = error as Error
      if (ENDS.has(name)) this.#by.add(`the end of the engine: ${name}`)
      else this.#wrong.push(`the engine ends: ${String(error)}`)
    }
    return known
  }

  #take({ wrong, named }: Answers, when: string): void {
    for (const text of wrong) this.#wrong.push(`${when}: ${text}`)
    if (named.length > 0) this.#by.add('an answer')
  }

  async #change(server: FlippedServer): Promise<Known> {
    const answers = new Answers()
    let { objects, absent } = this.#known
    const unsure: string[] = []
    for (const key of WRITTEN) {
      const body = Buffer.from(`changed ${key}`)
      const answer = await server.raw('PUT', `/plain/${key}`, { body })
      objects = objects.filter((one) => one.bucket !== 'plain' || one.key !== key)
      if (answer.status !== 200) {
        answers.refused(`PUT ${key}`, answer)
        unsure.push(`plain/${key}`)
        continue
      }
      const etag = String(answer.headers['etag'])
      const about = { bucket: 'plain', key, versionId: undefined, isCurrent: true, etag, bytes: body.length }
      objects = [...objects, { ...about, sha256: sha256(body) }]
    }
    const deleted = await server.raw('DELETE', `/plain/${DELETED}`)
    objects = objects.filter((one) => one.bucket !== 'plain' || one.key !== DELETED)
    if (deleted.status === 204) absent = [...absent, `plain/${DELETED}`]
    else {
      answers.refused(`DELETE ${DELETED}`, deleted)
      unsure.push(`plain/${DELETED}`)
    }
    this.#take(answers, 'changes')
    return { ...this.#known, objects, absent, unsure }
  }

  async #scrub(server: FlippedServer): Promise<void> {
    try {
      if ((await scrubbed(server)).length > 0) this.#by.add('the scrub')
    } catch (error) {
      this.#failed('the scrub', error)
    }
    const walk = new RowWalk(server.session.environment, COUNTED_ROWS_MAXIMUM)
    try {
      while (walk.next(ROWS_OF_STEP)) await turn()
    } catch (error) {
      this.#failed('the check of rows', error)
    }
    const snapshots = new SnapshotWalk(roomyDisk, server.paths, SNAPSHOT_PIECE_BYTES)
    for (let step = snapshots.next(); step !== 'over'; step = snapshots.next()) {
      if (step !== 'more') this.#by.add('the check of snapshots')
    }
    if (this.#by.size > 0) return
    if ((await segmentsNamed(server.paths.journal)).length > 0) this.#by.add('the check of the chain')
    const signing = signingOf({ ...server.store, paths: server.paths })
    try {
      // As after each scrub.
      await signing.settle()
      signing.worker.compare()
      await signing.settle()
      if (signing.mended.length + signing.discarded.length > 0) this.#by.add('trees that are mended')
    } catch (error) {
      this.#failed('signing', error)
    } finally {
      await signing.close()
    }
  }

  #failed(who: string, error: unknown): void {
    if (namesDamage(error) || isRowDamage(error)) this.#by.add(who)
    else this.#wrong.push(`${who}: ${String((error as Error).stack ?? error)}`)
  }

  /** The refused start left the store as it was: without the flip it starts, and everything is there. */
  async #refused(known: Known): Promise<Judgement> {
    if (this.#isBack()) this.#wrong.push('a start that is refused changed the place')
    else turnBit(this.#root, this.#flip)
    const server = await this.#start(BOOT)
    if (server === undefined) this.#wrong.push('it does not start without the flip either')
    else {
      const { wrong, named } = await ask(server, known, this.#number)
      for (const text of [...wrong, ...named]) this.#wrong.push(`without the flip: ${text}`)
      await server.stop()
    }
    return { verdict: this.#wrong.length > 0 ? 'wrong' : 'refused', by: [...this.#by], wrong: this.#wrong }
  }

  /** After a stop in order. */
  async #judge(): Promise<Judgement> {
    const paths = new StorePaths(this.#root)
    const isDue = this.#by.size === 0 ? !OF_PAYLOADS.has(this.#flip.kind) : this.#number % CHECKED_EVERY === 0
    if (isDue) await this.#compareRows(paths)
    const by = [...this.#by]
    if (this.#wrong.length > 0) return { verdict: 'wrong', by, wrong: this.#wrong }
    if (by.length > 0) return { verdict: 'named', by, wrong: [] }
    return { verdict: this.#isBack() ? 'made again' : 'without effect', by, wrong: [] }
  }

  /** Compares rows and trees with the journal. */
  async #compareRows(paths: StorePaths): Promise<void> {
    try {
      const { differences, differenceCount } = await checkProjections(roomyDisk, paths)
      if (differenceCount === 0) return
      this.#wrong.push(`rows or trees differ from the journal: ${differenceCount}, ${JSON.stringify(differences[0])}`)
    } catch (error) {
      this.#failed('projections check', error)
    }
  }

  #isThere(): boolean {
    const { file, position } = this.#flip
    return (statSync(join(this.#root, file), { throwIfNoEntry: false })?.size ?? 0) > position
  }

  /** Whether the file is gone, or has other bytes at the place. */
  #isBack(): boolean {
    const { file, position } = this.#flip
    try {
      const now = readFileSync(join(this.#root, file))[position]
      const before = readFileSync(join(this.#image, file))[position]
      return now === before
    } catch {
      return true
    }
  }
}
