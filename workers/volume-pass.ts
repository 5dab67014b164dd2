import type { VolumeNumber } from '../engine/brands.ts'
import { crc32 } from '../engine/hashing/crc32.ts'
import type { EngineClient } from '../engine/client/engine-client.ts'
import type { PayloadMove } from '../engine/commands/spine-commands.ts'
import type { Disk, DiskFile } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import type { VolumeLocation } from '../engine/payloads/payload-reader.ts'
import { type VolumeFrame, volumeFrames } from '../engine/payloads/volume-scan.ts'
import type { CatalogReader } from '../projections/catalog/catalog-reader.ts'
import { inBrackets, namesOfPayloads } from '../projections/catalog/payload-names.ts'
import type { StoredVolume } from '../projections/tables/usage.ts'
import { systemAudit } from './system-audit.ts'

const MOVES_MAXIMUM = 128
const MOVE_BYTES_MAXIMUM = 512 * 1024
/** One to move, one to verify, and one more for a write that was lost. */
const READINGS_MAXIMUM = 3
/** Frames read in one step; most may be dead. */
const FRAMES_MAXIMUM = 4096

/**
 * Empties one volume. First it moves all live payloads. Then it reads the volume again and reads each live payload back
 * from its new place; a payload that is not complete there is moved again from the old bytes. The volume is removed
 * only after a reading without a move: no copy is trusted before it was read back (W7).
 */
export class VolumePass {
  readonly volume: VolumeNumber
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #end: number
  #file: DiskFile | undefined
  #frames: AsyncGenerator<VolumeFrame> | undefined
  /** Payloads moved in this reading of the volume. */
  #movedInReading = 0
  #readings = 0
  #movedBytes = 0
  /** The volume that payloads were last read back from. */
  #proving: { readonly volume: VolumeNumber; readonly file: DiskFile } | undefined

  constructor(disk: Disk, paths: StorePaths, engine: EngineClient, catalog: CatalogReader, volume: StoredVolume) {
    this.#disk = disk
    this.#paths = paths
    this.#engine = engine
    this.#catalog = catalog
    this.volume = volume.volume
    this.#end = volume.end
  }

  get movedBytes(): number {
    return this.#movedBytes
  }

  /**
   * Processes some frames. `kept`: three readings did not empty the volume.
   * @throws VolumeDamagedError, and errors of the engine
   */
  async step(): Promise<'more' | 'removed' | 'kept'> {
    if (this.#frames === undefined) {
      this.#file ??= this.#disk.openToRead(this.#paths.volume(this.volume))
      this.#frames = volumeFrames(this.#file, this.#end)
      this.#movedInReading = 0
      this.#readings += 1
    }
    const { moves, ended } = await this.#gather(this.#frames)
    if (moves.length > 0) await this.#move(moves)
    if (!ended) return 'more'
    this.#frames = undefined
    if (this.#movedInReading === 0) return this.#remove()
    return this.#readings < READINGS_MAXIMUM ? 'more' : 'kept'
  }

  async close(): Promise<void> {
    await this.#frames?.return(undefined)
    await this.#file?.closeAsync()
    await this.#proving?.file.closeAsync()
  }

  /** The live payloads among the next frames that are still here, or incomplete in their new place. */
  async #gather(
    frames: AsyncGenerator<VolumeFrame>,
  ): Promise<{ readonly moves: readonly PayloadMove[]; readonly ended: boolean }> {
    const moves: PayloadMove[] = []
    let bytes = 0
    for (let count = 0; count < FRAMES_MAXIMUM; count += 1) {
      const { value: frame, done } = await frames.next()
      if (done === true) return { moves, ended: true }
      const move = await this.#moveOf(frame)
      if (move === undefined) continue
      moves.push(move)
      bytes += move.bytes.length
      if (moves.length === MOVES_MAXIMUM || bytes >= MOVE_BYTES_MAXIMUM) break
    }
    return { moves, ended: false }
  }

  async #moveOf({ payload, offset, bytes, checksum }: VolumeFrame): Promise<PayloadMove | undefined> {
    const location = this.#catalog.snapshot().payload(payload)
    if (location?.kind !== 'volume' || location.checksum !== checksum) return undefined
    const isHere = location.volume === this.volume
    if (isHere && location.offset !== offset) return undefined
    if (!isHere && (await this.#isWhole(location))) return undefined
    if (crc32(bytes) !== checksum) {
      const names = (await namesOfPayloads(this.#catalog, [payload])).get(payload)
      throw new Error(
        `payload ${payload}${inBrackets(names)} in volume ${this.volume}, offset ${offset}, is damaged and stays there`,
      )
    }
    const { volume: from, offset: at } = location
    return { payload, volume: from, offset: at, bytes: Uint8Array.from(bytes), checksum }
  }

  async #isWhole(location: VolumeLocation): Promise<boolean> {
    const bytes = Buffer.allocUnsafe(location.length)
    const file = await this.#openToProve(location.volume)
    const read = await file.readAtAsync(bytes, location.offset, bytes.length)
    return read === bytes.length && crc32(bytes) === location.checksum
  }

  async #openToProve(volume: VolumeNumber): Promise<DiskFile> {
    if (this.#proving?.volume === volume) return this.#proving.file
    await this.#proving?.file.closeAsync()
    this.#proving = undefined
    this.#proving = { volume, file: this.#disk.openToRead(this.#paths.volume(volume)) }
    return this.#proving.file
  }

  async #move(moves: readonly PayloadMove[]): Promise<void> {
    const audit = systemAudit('compaction', 'volume.compact', `volume:${this.volume}`)
    await this.#engine.execute({ kind: 'move-payloads', audit, moves })
    this.#movedInReading += moves.length
    for (const move of moves) this.#movedBytes += move.bytes.length
  }

  async #remove(): Promise<'removed' | 'kept'> {
    const audit = systemAudit('compaction', 'volume.remove', `volume:${this.volume}`)
    await this.#engine.execute({ kind: 'remove-volume', audit, volume: this.volume })
    return this.#catalog
      .snapshot()
      .volumes()
      .some(({ volume }) => volume === this.volume)
      ? 'kept'
      : 'removed'
  }
}
