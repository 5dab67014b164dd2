/** Where a disk rots, and how. */
import { relative } from 'node:path'
import { segmentFirstSequence, type StorePaths } from '../../../../engine/disk/store-paths.ts'
import { COLD_MAGIC } from '../../../../engine/journal/cold/cold-format.ts'
import { kindOfFile } from '../../../support/damage/kinds-of-files.ts'
import type { Random } from '../../../support/random.ts'
import { SECTOR_BYTES } from '../../simulated-disk/sectors.ts'
import type { SimulatedDisk } from '../../simulated-disk/simulated-disk.ts'

export const SHAPES = ['one bit', 'a run of bytes', 'a zeroed page', 'a lost sector'] as const
export type Shape = (typeof SHAPES)[number]

/** How often those are chosen that worlds have seldom, or whose damage has most readers; others once. */
const WEIGHTS: Readonly<Record<string, number>> = {
  'cold segment': 6,
  'sealed segment': 5,
  'open segment': 2,
  volume: 4,
  'payload file': 5,
  upload: 4,
}

const RUN_BYTES_MAXIMUM = 200
const PAGE_BYTES = 4096

/** Bytes of a file that read as others. */
export interface RottenPlace {
  /** As `kinds-of-files.ts` has it; of segments also which. */
  readonly kind: string
  readonly path: string
  readonly position: number
  /** What the bytes from there on are XORed with. */
  readonly mask: Buffer
  /** Whether they cannot be read at all. */
  readonly isLost: boolean
}

/** Files by their kind. */
function filesByKind(disk: SimulatedDisk, paths: StorePaths): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const contents = disk.contents()
  const last = [...contents.keys()].findLast((path) => isSegment(path, paths))
  for (const [path, bytes] of contents) {
    const name = kindOfFile(relative(paths.root, path))?.name
    if (name === undefined || path.endsWith('/') || bytes.length === 0) continue
    const kind =
      name !== 'segment' ? name : bytes.subarray(0, COLD_MAGIC.length).equals(COLD_MAGIC) ? 'cold segment' : name
    const state = kind !== 'segment' ? kind : path === last ? 'open segment' : 'sealed segment'
    const same = found.get(state)
    if (same === undefined) found.set(state, [path])
    else same.push(path)
  }
  return found
}

function isSegment(path: string, { journal }: StorePaths): boolean {
  return path.startsWith(`${journal}/`) && segmentFirstSequence(path.slice(journal.length + 1)) !== undefined
}

/**
 * A place that has data.
 * @param wanted the kind of the file; without it chance chooses among those that are there
 * @returns undefined where there is none
 */
export function rottenPlace(
  disk: SimulatedDisk,
  paths: StorePaths,
  shape: Shape,
  random: Random,
  wanted?: string,
): RottenPlace | undefined {
  const all = [...filesByKind(disk, paths)].filter(([kind]) => wanted === undefined || kind === wanted)
  if (all.length === 0) return undefined
  const [kind, files] = random.of(all.flatMap((each) => Array.from({ length: WEIGHTS[each[0]] ?? 1 }, () => each)))
  const path = random.of(files)
  const bytes = disk.file(path)?.bytes() ?? Buffer.alloc(0)
  // Behind the data of a segment or a volume are zeros that nothing reads.
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1
  if (end === 0) return undefined
  const at = random.below(end)
  return { kind, path, isLost: shape === 'a lost sector', ...maskAt(bytes.subarray(0, end), at, shape, random) }
}

function maskAt(
  bytes: Buffer,
  at: number,
  shape: Shape,
  random: Random,
): { readonly position: number; readonly mask: Buffer } {
  if (shape === 'one bit') return { position: at, mask: Buffer.of(1 << random.below(8)) }
  if (shape === 'a zeroed page') {
    const position = at - (at % PAGE_BYTES)
    return { position, mask: Buffer.from(bytes.subarray(position, position + PAGE_BYTES)) }
  }
  if (shape === 'a lost sector') {
    const position = at - (at % SECTOR_BYTES)
    return { position, mask: Buffer.alloc(Math.min(SECTOR_BYTES, bytes.length - position), 1) }
  }
  const length = Math.min(bytes.length - at, 1 + random.below(RUN_BYTES_MAXIMUM))
  return { position: at, mask: Buffer.from(Array.from({ length }, () => 1 + random.below(255))) }
}

/** Whether a byte from `from` to `to` (exclusive) of the file reads as another. */
export function isRotten({ position, mask }: RottenPlace, from: number, to: number): boolean {
  return mask.subarray(Math.max(0, from - position), Math.max(0, to - position)).some((byte) => byte !== 0)
}
