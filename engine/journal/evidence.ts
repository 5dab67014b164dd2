import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import type { SegmentFacts } from './segment-chain.ts'
import { openSegment } from './segment-file.ts'

/** Bytes that were cut off the end of the journal, kept in `journal/aside`. */
export interface CutTail {
  readonly segment: number
  readonly offset: number
  readonly length: number
  readonly digest: Uint8Array
  /** Requests of the batch were refused because its write or sync failed; otherwise the batch was torn. */
  readonly refused: boolean
}

/** Ends the name of evidence that is not in the journal yet. */
const PENDING = '.pending'
const EVIDENCE_NAME = /^segment-(\d+)-offset-(\d+)-(refused-)?[0-9a-f]{16}\.pending$/
const COPY_BYTES = 1 << 20

type Source = Pick<DiskFile, 'readAt'>

/**
 * Copies the bytes that recovery will cut off to a durable file, before anything is changed (J15). Its name comes from
 * its content, so a repeat gives the same file and never replaces other evidence. It is pending until the journal holds
 * an entry about it.
 */
export function keepAside(
  disk: Disk,
  paths: StorePaths,
  segment: SegmentFacts,
  offset: number,
  refused: boolean,
): CutTail {
  disk.makeDirectory(paths.aside)
  const source = openSegment(disk, segment.path)
  try {
    const length = lastNonZero(source, offset, segment.size) - offset
    const digest = digestOf(source, offset, length)
    const cut = { segment: segment.header.segmentNumber, offset, length, digest, refused }
    const path = join(paths.aside, evidenceName(cut) + PENDING)
    disk.remove(path)
    copy(source, offset, length, disk.create(path))
    disk.syncDirectory(paths.aside)
    return cut
  } finally {
    source.close()
  }
}

/** Evidence without an entry in the journal, from this start and from starts that crashed before their entry. */
export function pendingEvidence(disk: Disk, paths: StorePaths): CutTail[] {
  return pendingFiles(disk, paths).map(({ cut }) => cut)
}

/**
 * Marks all evidence as recorded in the journal; a repeat is harmless. A copy that a crash cut short is named by its
 * actual content, as in the entry.
 */
export function evidenceIsRecorded(disk: Disk, paths: StorePaths): void {
  const pending = pendingFiles(disk, paths)
  for (const { path, cut } of pending) disk.rename(path, join(paths.aside, evidenceName(cut)))
  if (pending.length > 0) disk.syncDirectory(paths.aside)
}

function pendingFiles(disk: Disk, paths: StorePaths): { readonly path: string; readonly cut: CutTail }[] {
  return disk.list(paths.aside).flatMap((name) => {
    const [, segment, offset, refused] = EVIDENCE_NAME.exec(name) ?? []
    if (segment === undefined || offset === undefined) return []
    const path = join(paths.aside, name)
    const file = disk.openToRead(path)
    try {
      const length = file.size()
      const digest = digestOf(file, 0, length)
      const place = { segment: Number(segment), offset: Number(offset) }
      return [{ path, cut: { ...place, length, digest, refused: refused !== undefined } }]
    } finally {
      file.close()
    }
  })
}

function evidenceName({ segment, offset, digest, refused }: CutTail): string {
  const start = Buffer.from(digest).toString('hex').slice(0, 16)
  return `segment-${segment}-offset-${offset}-${refused ? 'refused-' : ''}${start}`
}

function digestOf(file: Source, offset: number, length: number): Uint8Array {
  const digest = createHash('sha256')
  for (const part of partsOf(file, offset, length)) digest.update(part)
  return digest.digest()
}

function copy(source: Source, offset: number, length: number, target: DiskFile): void {
  try {
    let at = 0
    for (const part of partsOf(source, offset, length)) {
      target.writeAt(part, at)
      at += part.length
    }
    target.sync()
  } finally {
    target.close()
  }
}

/** The bytes of a range, piece by piece; a piece is valid until the next one. */
function* partsOf(file: Source, offset: number, length: number): Generator<Buffer> {
  const bytes = Buffer.alloc(Math.min(COPY_BYTES, length))
  for (let at = 0; at < length; at += COPY_BYTES) {
    yield bytes.subarray(0, file.readAt(bytes, offset + at, Math.min(COPY_BYTES, length - at)))
  }
}

function lastNonZero(file: Source, offset: number, size: number): number {
  let at = offset
  let end = offset
  for (const part of partsOf(file, offset, size - offset)) {
    const last = part.findLastIndex((byte) => byte !== 0)
    if (last !== -1) end = at + last + 1
    at += part.length
  }
  return end
}
