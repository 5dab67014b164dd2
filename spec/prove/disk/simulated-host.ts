import * as fs from 'node:fs'
import { join } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { HeadFile } from '../../../engine/journal/head-mark.ts'
import type { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { byChance } from '../simulated-disk/crash-choices.ts'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'

/**
 * A host with a simulated disk. The projections are on the real file system, where LMDB can open them: a process that
 * is killed leaves them as they are; a power cut leaves anything, unless they were synced by a clean stop.
 */
export class SimulatedHost {
  readonly paths: StorePaths
  disk: SimulatedDisk
  #boots = 1
  readonly #copy: string

  /** `root` is made, and must not be there. */
  constructor(root: string) {
    fs.mkdirSync(root)
    this.paths = new StorePaths(root)
    this.#copy = join(root, 'earlier')
    this.disk = new SimulatedDisk(root)
  }

  /** As the kernel tells it: another after each power cut. */
  get bootId(): string {
    return `boot-${this.#boots}`
  }

  /** Keeps the projections as they are now, for a power cut to bring back. */
  rememberProjections(): void {
    fs.rmSync(this.#copy, { recursive: true, force: true })
    if (fs.existsSync(this.paths.projections)) fs.cpSync(this.paths.projections, this.#copy, { recursive: true })
  }

  /** The process has ended: the page cache is still there. */
  killed(): void {
    this.disk = this.disk.clone()
  }

  /** The power has gone and is back. */
  powerCut(random: Random): void {
    this.disk = this.disk.crash(byChance(random))
    this.#boots += 1
    if (!this.#stoppedCleanly()) this.#spoilProjections(random)
    this.#spoilSnapshot(random)
  }

  #stoppedCleanly(): boolean {
    if (!this.disk.exists(this.paths.head)) return false
    const head = HeadFile.open(this.disk, this.paths)
    return head.newest?.clean === true
  }

  /** Every third time a snapshot is torn or changed: whatever is in it, the journal leads to the same rows. */
  #spoilSnapshot(random: Random): void {
    const { snapshots } = this.paths
    const names = this.disk.list(snapshots).filter((name) => /\.(snapshot|changes)$/.test(name))
    if (names.length === 0 || random.below(3) > 0) return
    const path = join(snapshots, random.of(names))
    const file = this.disk.openToWrite(path)
    const place = random.below(file.size())
    if (random.below(2) === 0) file.truncate(place)
    else file.writeAt(sampleBytes(Math.min(512, file.size() - place), random.below(1000)), place)
    file.sync()
  }

  #hasJournal(): boolean {
    return this.disk.list(this.paths.journal).some((name) => name.endsWith('.segment'))
  }

  #spoilProjections(random: Random): void {
    const { projections } = this.paths
    const choice = random.below(4)
    if (choice === 0 || !fs.existsSync(projections)) return
    if (choice === 1) return fs.rmSync(projections, { recursive: true })
    // Without a journal the store looks at what there is, and LMDB may end the process that does: not this one.
    if (choice === 2 && this.#hasJournal())
      return fs.writeFileSync(join(projections, 'data.mdb'), sampleBytes(50_000, random.below(1000)))
    if (!fs.existsSync(this.#copy)) return
    fs.rmSync(projections, { recursive: true })
    fs.cpSync(this.#copy, projections, { recursive: true })
  }
}
