import type { EngineClient } from '../engine/client/engine-client.ts'
import type { Disk } from '../engine/disk/disk.ts'
import { isHeld, mayBeHeld } from '../engine/disk/store-holds.ts'
import { type StorePaths, volumeNumber } from '../engine/disk/store-paths.ts'
import { FRAME_HEADER } from '../engine/payloads/volume-format.ts'
import type { CatalogReader } from '../projections/catalog/catalog-reader.ts'
import type { StoredVolume } from '../projections/tables/usage.ts'
import { VolumePass } from './volume-pass.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/** Compaction starts when full volumes hold more than this many bytes for each live byte. */
const HELD_PER_LIVE = 1.3
/** A volume with a larger share of live bytes is not worth the copying. */
const LIVE_MAXIMUM = 0.9

/**
 * Frees the space of deleted small payloads: copies the live payloads of a volume to the one being written, verifies
 * them there, and removes the file. Starts with the volume that has the smallest live share, and stops when copying
 * would gain little. After a crash at any moment the journal says whether a payload is in its old place or in its new
 * one; a half-finished pass starts over.
 */
export class VolumeCompaction implements BackgroundWorker {
  readonly name = 'compact-volumes'
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  /** Volumes that could not be read to their end or emptied; an operator must examine them. */
  readonly #kept = new Set<number>()
  #pass: VolumePass | undefined
  #sweptOrphans = false
  #removed = 0
  #movedBytes = 0

  constructor(disk: Disk, paths: StorePaths, engine: EngineClient, catalog: CatalogReader) {
    this.#disk = disk
    this.#paths = paths
    this.#engine = engine
    this.#catalog = catalog
  }

  get status(): string {
    return `${this.#removed} volumes removed, ${this.#movedBytes} bytes moved, ${this.#kept.size} volumes kept for damage`
  }

  /** Volumes removed since the start. */
  get removed(): number {
    return this.#removed
  }

  /** Bytes copied since the start. */
  get movedBytes(): number {
    return this.#movedBytes
  }

  async step(): Promise<StepResult> {
    if (!this.#sweptOrphans && !(await isHeld(this.#disk, this.#paths))) await this.#sweepOrphans()
    this.#pass ??= this.#begin()
    const pass = this.#pass
    if (pass === undefined) return 'idle'
    let outcome: 'more' | 'removed' | 'kept'
    try {
      outcome = await pass.step()
    } catch (error) {
      await this.#end(pass)
      this.#kept.add(pass.volume)
      throw error
    }
    if (outcome === 'more') return 'more'
    await this.#end(pass)
    if (outcome === 'removed') this.#removed += 1
    else this.#kept.add(pass.volume)
    return 'more'
  }

  async close(): Promise<void> {
    await this.#pass?.close()
  }

  async #end(pass: VolumePass): Promise<void> {
    this.#pass = undefined
    this.#movedBytes += pass.movedBytes
    await pass.close()
  }

  #begin(): VolumePass | undefined {
    const volume = chooseVolume(this.#catalog.snapshot().volumes().slice(0, -1), this.#kept)
    return volume && new VolumePass(this.#disk, this.#paths, this.#engine, this.#catalog, volume)
  }

  /** Removes files that a crash left although the journal has the removal of their volumes, unless a backup holds them. */
  async #sweepOrphans(): Promise<void> {
    const volumes = this.#catalog.snapshot().volumes()
    const known = new Set(volumes.map(({ volume }) => volume))
    const newest = volumes.at(-1)?.volume ?? 0
    for (const name of this.#disk.list(this.#paths.volumes)) {
      const volume = volumeNumber(name)
      if (volume === undefined || volume >= newest || known.has(volume)) continue
      // Checked after the catalog: a backup that starts later does not need the file.
      if (mayBeHeld(this.#disk, this.#paths)) return
      await this.#disk.removeAsync(this.#paths.volume(volume))
    }
    this.#sweptOrphans = true
  }
}

/** Bytes of the live frames. */
function liveBytes({ payloads, bytes }: StoredVolume): number {
  return bytes + payloads * FRAME_HEADER.bytes
}

/** The full volume with the smallest live share, if compaction is worth it. */
function chooseVolume(full: readonly StoredVolume[], kept: ReadonlySet<number>): StoredVolume | undefined {
  let held = 0
  let live = 0
  let best: StoredVolume | undefined
  for (const volume of full) {
    if (kept.has(volume.volume)) continue
    held += volume.end
    live += liveBytes(volume)
    if (best === undefined || liveBytes(volume) / volume.end < liveBytes(best) / best.end) best = volume
  }
  if (best === undefined || best.payloads === 0) return best
  const isWorthIt = held > HELD_PER_LIVE * live && liveBytes(best) < LIVE_MAXIMUM * best.end
  return isWorthIt ? best : undefined
}
