/** A rotten place on the disk of a world, until it heals. */
import type { StorePaths } from '../../../../engine/disk/store-paths.ts'
import type { SimulatedDisk } from '../../simulated-disk/simulated-disk.ts'
import type { FileNode } from '../../simulated-disk/file-node.ts'
import type { RottenPlace } from './rotten-place.ts'

export class Decay {
  readonly place: RottenPlace
  /** Whether a start was refused for it. */
  isRefused = false
  readonly #disk: SimulatedDisk
  readonly #paths: StorePaths
  /** The file keeps it under another name as well. */
  readonly #node: FileNode | undefined

  /** The place rots. */
  constructor(disk: SimulatedDisk, paths: StorePaths, place: RottenPlace) {
    this.place = place
    this.#disk = disk
    this.#paths = paths
    this.#node = disk.file(place.path)
    this.#lay()
  }

  get isOfJournal(): boolean {
    return this.place.path.startsWith(`${this.#paths.journal}/`)
  }

  heal(): void {
    this.#disk.heal()
    this.#node?.rot.heal()
  }

  /** Does something on the sound disk. */
  async without<T>(work: () => Promise<T>): Promise<T> {
    this.heal()
    const done = await work()
    this.#lay()
    return done
  }

  #lay(): void {
    const { position, mask, isLost } = this.place
    if (isLost) this.#node?.rot.lose(position, position + mask.length)
    else this.#node?.rot.add(position, mask)
  }
}
