/** Damage that a medium does to what it holds, one at a time. */
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { Random } from '../../support/random.ts'
import { SECTOR_BYTES } from '../simulated-disk/sectors.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'

export type DamageKind = 'bit rot' | 'lost sector' | 'write that never came' | 'misdirected write'

/** `position`: the first byte that is not what was written. */
export interface DamagedPlace {
  readonly path: string
  readonly position: number
}

export interface Damage {
  readonly kind: DamageKind
  readonly places: readonly DamagedPlace[]
}

const KINDS: readonly DamageKind[] = ['bit rot', 'lost sector', 'write that never came', 'misdirected write']

interface Place {
  readonly path: string
  readonly sector: number
}

/** Damages a sector that holds something; undefined when no file does. Projections are not on this disk. */
export function damageSomething(disk: SimulatedDisk, paths: StorePaths, random: Random): Damage | undefined {
  const place = somePlace(disk, paths, random)
  if (place === undefined) return undefined
  const kind = random.of(KINDS)
  const node = disk.file(place.path)
  const at = place.sector * SECTOR_BYTES
  if (kind === 'bit rot') {
    const bytes = sectorAt(disk, place)
    const byte = random.below(SECTOR_BYTES)
    bytes[byte] = (bytes[byte] ?? 0) ^ (1 << random.below(8))
    node?.damage(place.sector, { kind: 'changed', bytes })
    return { kind, places: [{ path: place.path, position: at + byte }] }
  }
  if (kind === 'lost sector') {
    node?.damage(place.sector, { kind: 'lost' })
    return { kind, places: [{ path: place.path, position: at }] }
  }
  node?.damage(place.sector, { kind: 'changed', bytes: undefined })
  const places = [{ path: place.path, position: at }]
  const target = kind === 'misdirected write' && place.path !== paths.head ? somePlace(disk, paths, random) : undefined
  const bytes = sectorAt(disk, place)
  // One of the mark and of the journal takes both the history and what is known of it: two damages, and not one.
  if (target !== undefined && target.path !== paths.head && isChangedBy(disk, target, bytes)) {
    disk.file(target.path)?.damage(target.sector, { kind: 'changed', bytes })
    places.push({ path: target.path, position: target.sector * SECTOR_BYTES })
  }
  return { kind, places }
}

/** Whether anybody could tell: a file may end within the sector. */
function isChangedBy(disk: SimulatedDisk, target: Place, bytes: Buffer): boolean {
  const length = Math.min(SECTOR_BYTES, disk.sizeOf(target.path) - target.sector * SECTOR_BYTES)
  return !sectorAt(disk, target).subarray(0, length).equals(bytes.subarray(0, length))
}

/** Every kind of file alike, or next to all damage would go where most bytes are. */
function somePlace(disk: SimulatedDisk, paths: StorePaths, random: Random): Place | undefined {
  const within = random.of([paths.journal, paths.journal, paths.volumes, paths.files])
  const files = [...disk.contents().keys()].filter(
    (path) => path.startsWith(`${within}/`) && filled(disk, path).length > 0,
  )
  if (files.length === 0) return undefined
  const ordinal = (path: string) => disk.file(path)?.ordinal ?? 0
  files.sort((left, right) => ordinal(left) - ordinal(right))
  const path = random.of(files)
  return { path, sector: random.of(filled(disk, path)) }
}

function filled(disk: SimulatedDisk, path: string): readonly number[] {
  return disk.file(path)?.filledSectors ?? []
}

function sectorAt(disk: SimulatedDisk, { path, sector }: Place): Buffer {
  const bytes = Buffer.alloc(SECTOR_BYTES)
  disk
    .file(path)
    ?.bytes()
    .copy(bytes, 0, sector * SECTOR_BYTES)
  return bytes
}
