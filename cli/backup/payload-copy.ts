import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { fileBytes } from '../../engine/payloads/file-format.ts'
import type { FileLocation } from '../../engine/payloads/payload-reader.ts'
import type { StoredVolume } from '../../projections/tables/usage.ts'
import { type Copier, SourceShortError } from './copier.ts'
import type { StoredFile } from './manifest.ts'
import type { PayloadState } from './payload-state.ts'

/** Files that are copied at a time: the disk syncs one while another is read. */
const AT_ONCE = 4

/** The payloads of a backup. */
export interface CopiedPayloads {
  /** By the name of the payload file. */
  readonly files: Map<string, StoredFile>
  /** By volume: bytes from its beginning. */
  readonly volumes: Map<number, number>
}

/** Results of one pass over the payloads. */
interface CopyOutcome {
  readonly added: CopiedPayloads
  /** Payloads that the source lacks, or has only in part; each with its reason. */
  readonly missing: readonly string[]
}

/**
 * Copies all payloads that a state refers to and the copy lacks: payload files once, since their bytes never change;
 * volumes from the end of the copy to the last referenced byte.
 * @param known payloads of the copy; copied payloads are added
 * @param ends by volume, the bytes that the source certainly has; undefined when it must have all referenced bytes
 */
export async function copyPayloads(
  disk: Disk,
  from: StorePaths,
  to: StorePaths,
  state: PayloadState,
  known: CopiedPayloads,
  copier: Copier,
  ends?: ReadonlyMap<number, number>,
): Promise<CopyOutcome> {
  const added: CopiedPayloads = { files: new Map(), volumes: new Map() }
  const missing: string[] = []
  const gone = (what: string, error: unknown): void => {
    const reason = lossOf(error)
    if (reason === undefined) throw error
    missing.push(`${what}: ${reason}`)
  }
  for (const used of state.volumes()) {
    const volume = { ...used, end: Math.min(used.end, ends === undefined ? used.end : (ends.get(used.volume) ?? 0)) }
    await copyVolume(disk, from, to, volume, known, copier).then(
      (bytes) => bytes !== undefined && added.volumes.set(volume.volume, bytes),
      (error: unknown) => gone(`volume ${volume.volume}`, error),
    )
  }
  await inParallel(newFiles(state, known), async (location) => {
    try {
      const stored = await copyFile(disk, from, to, location, copier)
      known.files.set(location.name, stored)
      added.files.set(location.name, stored)
    } catch (error) {
      gone(`payload file ${location.name}`, error)
    }
  })
  copier.syncDirectories()
  return { added, missing }
}

/** Bytes of the volume that are there now; undefined when nothing was to be done. */
async function copyVolume(
  disk: Disk,
  from: StorePaths,
  to: StorePaths,
  { volume, end }: StoredVolume,
  known: CopiedPayloads,
  copier: Copier,
): Promise<number | undefined> {
  const had = known.volumes.get(volume) ?? 0
  if (had >= end) return undefined
  const source = await disk.openToReadAsync(from.volume(volume))
  try {
    if (source.size() < end) throw new SourceShortError(`${source.path} ends before ${end}`)
    if (had === 0) await copier.copy(source, to.volume(volume), end)
    else await copier.append(source, to.volume(volume), had, end)
  } finally {
    await source.closeAsync()
  }
  known.volumes.set(volume, end)
  return end
}

async function copyFile(
  disk: Disk,
  from: StorePaths,
  to: StorePaths,
  { name, sealed, length }: FileLocation,
  copier: Copier,
): Promise<StoredFile> {
  const source: DiskFile = await disk.openToReadAsync(from.file(name))
  try {
    const bytes = fileBytes(sealed ? 'sealed' : 'plain', length)
    if (source.size() !== bytes) throw new SourceShortError(`${source.path} does not have ${bytes} bytes`)
    return await copier.copy(source, to.file(name))
  } finally {
    await source.closeAsync()
  }
}

function* newFiles(state: PayloadState, known: CopiedPayloads): Generator<FileLocation> {
  for (const { location } of state.payloads()) {
    if (location.kind === 'file' && !known.files.has(location.name)) yield location
  }
}

/** Why the source does not have a payload; undefined for an unrelated error. */
function lossOf(error: unknown): string | undefined {
  if (error instanceof SourceShortError) return error.message
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && syscall === 'open') return 'it is gone'
  return code === 'EIO' && syscall === 'read' ? 'it cannot be read' : undefined
}

/** Works on some at once; the first error ends all. */
async function inParallel<T>(items: Generator<T>, work: (item: T) => Promise<void>): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let step = items.next(); step.done !== true; step = items.next()) {
      await work(step.value).catch((error: unknown) => {
        items.return(undefined)
        throw error
      })
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane))
  for (const end of lanes) if (end.status === 'rejected') throw end.reason
}
