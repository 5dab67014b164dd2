/** A file as the page cache and the medium have it. */
import type { CrashDecision } from './crash-choices.ts'
import { Rot } from './rot.ts'
import { SECTOR_BYTES, type Sector, sectorOf, sectorsEqual } from './sectors.ts'

/** Length in bytes and sectors; undefined is one of zeros. Sectors are never changed, so copies share them. */
interface Content {
  length: number
  readonly sectors: Map<number, Sector>
  isReadOnly: boolean
}

/** What is wrong with a sector of the medium. */
export type SectorDamage =
  /** Reading it is an error. */
  | { readonly kind: 'lost' }
  /** It reads as something else than was written. */
  | { readonly kind: 'changed'; readonly bytes: Sector }

/** What the medium held at the same place in a file that is no more: found where a length lands before the data. */
export type Stale = (sector: number) => Sector

let ordinals = 0

function nextOrdinal(): number {
  ordinals += 1
  return ordinals
}

export class FileNode {
  readonly kind = 'file'
  /** For choices: the name that it was made under. */
  readonly madeAs: string
  /** For choices that must be the same again: names of payloads are random. Files that were made later have a larger one. */
  readonly ordinal: number
  #durable: Content = { length: 0, sectors: new Map(), isReadOnly: false }
  #cached: Content = { length: 0, sectors: new Map(), isReadOnly: false }
  /** Versions of each sector since the last sync, the newest last. */
  readonly #versions = new Map<number, Sector[]>()
  /** Lengths since the last sync. */
  #lengths: number[] = []
  readonly #damage = new Map<number, SectorDamage>()
  /** Lies over what is read, damage of sectors included, and is on no medium. */
  rot = new Rot()
  /** Sectors that count as clean and are not on the medium: a sync of them failed. */
  readonly #lied = new Set<number>()

  constructor(madeAs: string, ordinal = nextOrdinal()) {
    this.madeAs = madeAs
    this.ordinal = ordinal
  }

  get length(): number {
    return this.#cached.length
  }

  get isReadOnly(): boolean {
    return this.#cached.isReadOnly
  }

  /** Sectors that hold a byte other than 0, by what is cached. */
  get filledSectors(): number[] {
    return [...this.#cached.sectors].flatMap(([at, sector]) => (sector === undefined ? [] : [at])).toSorted(ascending)
  }

  /** With all that is not synced; sectors are shared. */
  copy(): FileNode {
    const node = new FileNode(this.madeAs, this.ordinal)
    node.#durable = copyOf(this.#durable)
    node.#cached = copyOf(this.#cached)
    for (const [sector, versions] of this.#versions) node.#versions.set(sector, [...versions])
    for (const [sector, damage] of this.#damage) node.#damage.set(sector, damage)
    node.rot = this.rot.copy()
    for (const sector of this.#lied) node.#lied.add(sector)
    node.#lengths = [...this.#lengths]
    return node
  }

  /** All of it, damage aside. */
  bytes(): Buffer {
    const bytes = Buffer.alloc(this.#cached.length)
    for (const [number, sector] of this.#cached.sectors) sector?.copy(bytes, number * SECTOR_BYTES)
    return bytes
  }

  /** All of it as the medium gives it now; sectors that cannot be read are zeros. */
  damagedBytes(): Buffer {
    const bytes = this.bytes()
    for (const [number, damage] of this.#damage) {
      if (number * SECTOR_BYTES >= bytes.length) continue
      const sector = damage.kind === 'changed' ? damage.bytes : undefined
      bytes.fill(0, number * SECTOR_BYTES, Math.min(bytes.length, (number + 1) * SECTOR_BYTES))
      sector?.copy(bytes, number * SECTOR_BYTES)
    }
    this.rot.spoil(bytes, 0)
    return bytes
  }

  read(target: Uint8Array, position: number, length: number): number {
    const count = Math.max(0, Math.min(length, this.#cached.length - position))
    let done = 0
    while (done < count) {
      const at = position + done
      const inSector = at % SECTOR_BYTES
      const size = Math.min(SECTOR_BYTES - inSector, count - done)
      const sector = this.#sector(Math.floor(at / SECTOR_BYTES))
      if (sector === undefined) target.fill(0, done, done + size)
      else target.set(sector.subarray(inSector, inSector + size), done)
      done += size
    }
    this.rot.spoil(target, position, count)
    return count
  }

  write(bytes: Uint8Array, position: number): void {
    this.rot.written(position, bytes.length)
    let done = 0
    while (done < bytes.length) {
      const at = position + done
      const inSector = at % SECTOR_BYTES
      const size = Math.min(SECTOR_BYTES - inSector, bytes.length - done)
      const number = Math.floor(at / SECTOR_BYTES)
      const part = bytes.subarray(done, done + size)
      this.#put(number, size === SECTOR_BYTES ? sectorOf(part) : this.#merged(number, inSector, part))
      done += size
    }
    if (position + bytes.length > this.#cached.length) this.#setLength(position + bytes.length)
  }

  truncate(length: number): void {
    for (const number of this.#cached.sectors.keys()) {
      if ((number + 1) * SECTOR_BYTES <= length) continue
      const kept = Math.max(0, length - number * SECTOR_BYTES)
      this.#put(number, zeroedBehind(this.#cached.sectors.get(number), kept))
    }
    this.#setLength(length)
  }

  makeReadOnly(): void {
    this.#cached.isReadOnly = true
  }

  sync(): void {
    for (const sector of this.#versions.keys()) this.#durable.sectors.set(sector, this.#cached.sectors.get(sector))
    this.#durable.length = this.#cached.length
    this.#durable.isReadOnly = this.#cached.isReadOnly
    this.#forgetPending()
  }

  /**
   * A sync that failed as file systems fail: what reached the medium is decided as in a crash, the pages count as
   * clean, and what is read is still what was written, until they are forgotten. No later sync writes them again.
   */
  failSync(decide: CrashDecision, stale: Stale): void {
    this.#durable = this.#decided(decide, stale)
    for (const sector of this.#versions.keys()) this.#lied.add(sector)
    this.#forgetPending()
  }

  /** Whether there are pages that a failed sync left behind. */
  get isLying(): boolean {
    return this.#lied.size > 0
  }

  /** The cache makes room: what a failed sync left behind is read from the medium from now on. */
  forgetLies(): void {
    for (const sector of this.#lied) this.#cached.sectors.set(sector, this.#durable.sectors.get(sector))
    this.#lied.clear()
  }

  /** The file after a power cut: all of it durable. */
  crashed(decide: CrashDecision, stale: Stale): FileNode {
    const node = new FileNode(this.madeAs, this.ordinal)
    node.#durable = this.#decided(decide, stale)
    node.#cached = copyOf(node.#durable)
    for (const [sector, damage] of this.#damage) node.#damage.set(sector, damage)
    node.rot = this.rot.copy()
    return node
  }

  /** What the medium holds at a place, damage aside. */
  durableSector(number: number): Sector {
    return this.#durable.sectors.get(number)
  }

  /** Lays damage over a sector; it lasts until the sector is written. */
  damage(number: number, damage: SectorDamage): void {
    this.#damage.set(number, damage)
  }

  #setLength(length: number): void {
    if (length === this.#cached.length) return
    this.#cached.length = length
    this.#lengths.push(length)
  }

  #sector(number: number): Sector {
    const damage = this.#damage.get(number)
    if (damage === undefined) return this.#cached.sectors.get(number)
    if (damage.kind === 'changed') return damage.bytes
    throw Object.assign(new Error(`EIO: i/o error, sector ${number} of ${this.madeAs}`), { code: 'EIO' })
  }

  #merged(number: number, inSector: number, part: Uint8Array): Sector {
    const sector = Buffer.alloc(SECTOR_BYTES)
    this.#sector(number)?.copy(sector)
    sector.set(part, inSector)
    return sectorOf(sector)
  }

  #put(number: number, sector: Sector): void {
    this.#damage.delete(number)
    this.#lied.delete(number)
    this.#cached.sectors.set(number, sector)
    const versions = this.#versions.get(number)
    if (versions === undefined) this.#versions.set(number, [sector])
    else versions.push(sector)
  }

  #forgetPending(): void {
    this.#versions.clear()
    this.#lengths = []
  }

  #decided(decide: CrashDecision, stale: Stale): Content {
    const before = this.#durable
    const choice = <T>(what: 'length' | 'sector' | 'mode', detail: string, options: readonly T[]): T => {
      const asked = { what, path: this.madeAs, detail, options: options.length }
      return (options.length === 1 ? options[0] : options[decide(asked)]) as T
    }
    const modes = [...new Set([before.isReadOnly, this.#cached.isReadOnly])]
    const isReadOnly = choice('mode', 'read-only', modes)
    const length = choice('length', '', [...new Set([before.length, ...this.#lengths])])
    const sectors = new Map<number, Sector>()
    const last = Math.ceil(length / SECTOR_BYTES)
    for (const [number, sector] of before.sectors) if (number < last) sectors.set(number, sector)
    for (const number of [...this.#versions.keys()].toSorted(ascending)) {
      if (number >= last) continue
      const options = [before.sectors.get(number), ...(this.#versions.get(number) ?? [])]
      // Where the file did not reach before, its length may land without its data, and show what lay there.
      if (number * SECTOR_BYTES >= before.length) options.push(stale(number))
      sectors.set(number, choice('sector', String(number), distinct(options)))
    }
    const end = length % SECTOR_BYTES
    if (end > 0) sectors.set(last - 1, zeroedBehind(sectors.get(last - 1), end))
    return { length, sectors, isReadOnly }
  }
}

function ascending(left: number, right: number): number {
  return left - right
}

function copyOf(content: Content): Content {
  return { ...content, sectors: new Map(content.sectors) }
}

function zeroedBehind(sector: Sector, length: number): Sector {
  if (sector === undefined || length === 0) return undefined
  return sectorOf(Buffer.from(sector).fill(0, length))
}

/** The first of each kind, so that no outcome is counted twice. */
function distinct(sectors: readonly Sector[]): Sector[] {
  return sectors.filter((sector, index) => sectors.findIndex((other) => sectorsEqual(sector, other)) === index)
}
