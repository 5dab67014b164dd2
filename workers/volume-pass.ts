import { crc32 } from 'node:zlib'
import type { EngineClient } from '../engine/client.ts'
import type { PayloadMove } from '../engine/commands.ts'
import type { Disk, DiskFile } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import type { VolumeLocation } from '../engine/payloads/payload-reader.ts'
import { type VolumeFrame, volumeFrames } from '../engine/payloads/volume-scan.ts'
import type { CatalogReader, StoredVolume } from '../projections/catalog-reader.ts'
import { systemAudit } from './system-audit.ts'

const MOVES_MAXIMUM = 128
const MOVE_BYTES_MAXIMUM = 512 * 1024
/** One to move, one to prove, and one more for a write that did not hold. */
const READINGS_MAXIMUM = 3
/** Frames looked at in one step, most of which may be dead. */
const FRAMES_MAXIMUM = 4096

/**
 * One volume on its way out. First all that lives in it is moved. Then the volume is read once more, and whatever of it
 * still lives must stand whole in its new place, read back from there; what does not is moved again from the old bytes.
 * Only a volume that passes such a reading without a move is removed: nothing is given up on the word of a write (W7).
 */
export class VolumePass {
  readonly volume: number
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #end: number
  #file: DiskFile | undefined
  #frames: AsyncGenerator<VolumeFrame> | undefined
  /** What this reading of the volume moved. */
  #movedInReading = 0
  #readings = 0
  #movedBytes = 0
  /** The volume that payloads were last proved in. */
  #proving: { readonly volume: number; readonly file: DiskFile } | undefined

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
   * Looks at some frames. `kept`: three readings did not empty the volume.
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
    await this.#file?.closeLater()
    await this.#proving?.file.closeLater()
  }

  /** The payloads among the next frames that live, and stand here or do not stand whole where they should. */
  async #gather(
    frames: AsyncGenerator<VolumeFrame>,
  ): Promise<{ readonly moves: readonly PayloadMove[]; readonly ended: boolean }> {
    const moves: PayloadMove[] = []
    let bytes = 0
    this.#catalog.refresh()
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
    const location = this.#catalog.payload(payload)
    if (location?.kind !== 'volume' || location.checksum !== checksum) return undefined
    const isHere = location.volume === this.volume
    if (isHere && location.offset !== offset) return undefined
    if (!isHere && (await this.#isWhole(location))) return undefined
    if (crc32(bytes) !== checksum) {
      throw new Error(`payload ${payload} in volume ${this.volume}, offset ${offset}, is damaged and stays there`)
    }
    const { volume: from, offset: at } = location
    return { payload, volume: from, offset: at, bytes: Uint8Array.from(bytes), checksum }
  }

  async #isWhole(location: VolumeLocation): Promise<boolean> {
    const bytes = Buffer.allocUnsafe(location.length)
    const file = await this.#openToProve(location.volume)
    const read = await file.readAtLater(bytes, location.offset, bytes.length)
    return read === bytes.length && crc32(bytes) === location.checksum
  }

  async #openToProve(volume: number): Promise<DiskFile> {
    if (this.#proving?.volume === volume) return this.#proving.file
    await this.#proving?.file.closeLater()
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
    return this.#catalog.volumes().some(({ volume }) => volume === this.volume) ? 'kept' : 'removed'
  }
}
