import { randomBytes } from 'node:crypto'
import type { PayloadId, Sequence } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { decodeChanges } from '../../../engine/events/entry-codec.ts'
import { crc32 } from '../../../engine/hashing/crc32.ts'
import { RECORD_KIND } from '../../../engine/journal/format.ts'
import { JournalDamagedError } from '../../../engine/journal/journal-errors.ts'
import { scanOneSegment } from '../../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import type { VolumeLocation } from '../../../engine/payloads/payload-reader.ts'
import type { PayloadSealer } from '../../../engine/payloads/sealing.ts'
import { encodeFrame, encodeVolumeHeader, FRAME_HEADER, frameBytes } from '../../../engine/payloads/volume-format.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { inBrackets, namesOfPayloads } from '../../../projections/catalog/payload-names.ts'
import { ExitError } from '../../exit-codes.ts'
import type { ExistingBackup } from '../checked-backup.ts'
import type { RepairRecords } from './heal-records.ts'
import { type Healing, piecesOfFile } from './heal-segments.ts'
import { writeNewFile } from '../new-file.ts'
import { type StoredDigest, storedBy } from '../payload-check.ts'
import { ProvedPayloads, type StoredLocation } from './proved-payloads.ts'
import { withBackupState } from '../temporary-state.ts'

/** A store that no server has open, its objects, and the backup to heal it from. */
interface HealedStore {
  readonly disk: Disk
  readonly paths: StorePaths
  readonly catalog: CatalogReader
  readonly existing: ExistingBackup
  readonly sealer: PayloadSealer | undefined
  readonly progress: (text: string) => void
  readonly records: RepairRecords
}

/** Damaged payloads that are recorded together, at least; then as many as were recorded before. */
const RECORDED_TOGETHER = 64

/** A damaged payload, and where the backup has it. */
interface Repair {
  readonly payload: PayloadId
  readonly fault: string
  readonly to: StoredLocation
  readonly from: StoredLocation
}

/** Where a payload is in the backup: places that may have it, of which the bytes decide. */
interface Candidate {
  readonly location: StoredLocation
}

/**
 * Copies payloads back that are damaged or missing: bytes of the backup whose SHA-256 the journal of the store
 * states, to the place where the store has the payload. So nothing but what was written can be written, whatever the backup
 * has, and no lock is touched.
 * @param only these payloads; undefined for all that are in use
 * @throws JournalDamagedError, ExitError, and the errors of the disk
 */
export async function healPayloads(
  store: HealedStore,
  only: readonly PayloadId[] | undefined,
): Promise<Healing & { readonly checked: number }> {
  const { disk, paths, existing, sealer } = store
  const own = new ProvedPayloads(disk, paths, sealer)
  const theirs = new ProvedPayloads(existing.disk, existing.backup, sealer)
  const healing = { healed: [] as string[], left: [] as string[], checked: 0 }
  try {
    const moved: StoredDigest[] = []
    const repairs: Repair[] = []
    const repair = async () => {
      if (repairs.length === 0) return
      store.records.begin(repairs.map(({ payload, fault }) => ({ resource: `payload:${payload}`, fault })))
      for (const { payload, fault, to, from } of repairs.splice(0)) {
        await putBack(store, payload, to, from)
        healing.healed.push(`payload ${payload}: ${fault}`)
      }
    }
    const heal = async (
      stored: StoredDigest,
      candidates: readonly Candidate[],
    ): Promise<'healed' | 'left' | 'intact'> => {
      const location = store.catalog.snapshot().payload(stored.payload)
      if (location === undefined || location.kind === 'parts') return 'intact'
      const fault = await own.faultOf(location, stored.digest)
      if (fault === undefined) return 'intact'
      const found = await firstProved(theirs, candidates, stored.digest)
      if (found === undefined) return 'left'
      repairs.push({ payload: stored.payload, fault, to: location, from: found })
      if (repairs.length >= Math.max(RECORDED_TOGETHER, store.records.count)) await repair()
      return 'healed'
    }
    for (const stored of digestsOf(store, only)) {
      healing.checked += 1
      store.progress(`${healing.checked.toLocaleString('en')} payloads checked`)
      const location = store.catalog.snapshot().payload(stored.payload)
      if (location === undefined || location.kind === 'parts') continue
      if ((await heal(stored, [{ location }, { location: stored.reference }])) === 'left') moved.push(stored)
    }
    if (moved.length > 0) await healMoved(store, moved, heal, healing.left)
    await repair()
    await requireHealed(store, healing)
    return { ...healing, ...(await withNames(store.catalog, healing)) }
  } finally {
    own.close()
    theirs.close()
  }
}

/** Looks where the backup itself has payloads that compaction moved before or after it was made. */
async function healMoved(
  { disk, existing, progress }: HealedStore,
  moved: readonly StoredDigest[],
  heal: (stored: StoredDigest, candidates: readonly Candidate[]) => Promise<string>,
  left: string[],
): Promise<void> {
  await withBackupState(disk, existing, existing.last.point.sequence, progress, async (state) => {
    for (const stored of moved) {
      const location = state.payload(stored.payload)
      const candidates = location === undefined || location.kind === 'parts' ? [] : [{ location }]
      if ((await heal(stored, candidates)) !== 'left') continue
      left.push(
        candidates.length === 0
          ? `payload ${stored.payload}: the backup does not have it`
          : `payload ${stored.payload}: it is damaged in the backup too`,
      )
    }
  })
}

async function firstProved(
  payloads: ProvedPayloads,
  candidates: readonly Candidate[],
  digest: Uint8Array,
): Promise<StoredLocation | undefined> {
  for (const { location } of candidates) {
    if ((await payloads.faultOf(location, digest)) === undefined) return location
  }
  return undefined
}

/**
 * The digests of payloads, from the entries that stored them, segment by segment.
 * @throws JournalDamagedError
 */
function* digestsOf({ disk, paths }: HealedStore, only: readonly PayloadId[] | undefined): Generator<StoredDigest> {
  const wanted = only && new Set(only)
  const firsts = segmentFirsts(disk, paths)
  const least = only === undefined ? 0 : Math.min(...only)
  for (const [index, first] of firsts.entries()) {
    const following: Sequence | undefined = firsts[index + 1]
    if (following !== undefined && following <= least) continue
    const found: StoredDigest[] = []
    const { end, chain } = scanOneSegment(disk, paths, first, {
      record: ({ kind, body }) => {
        if (kind !== RECORD_KIND.change) return
        const stored = storedBy(decodeChanges(body))
        if (stored !== undefined && wanted?.has(stored.payload) !== false) found.push(stored)
      },
    })
    // The projections have every record of the open segment, so what is torn at its end was never acknowledged.
    if ((end.end === 'torn' && following !== undefined) || end.end === 'foreign') {
      const where = `${paths.segment(first)}, sequence ${chain.nextSequence}`
      throw new JournalDamagedError(`${where}: ${end.reason}; without BUCKET and KEY, segments are healed first`)
    }
    for (const stored of found) {
      yield stored
      wanted?.delete(stored.payload)
    }
    if (wanted?.size === 0) return
  }
}

/** Writes proved bytes of the backup to the place of a payload in the store, durably. */
async function putBack(
  store: HealedStore,
  payload: PayloadId,
  to: StoredLocation,
  from: StoredLocation,
): Promise<void> {
  if (to.kind === 'file' && from.kind === 'file') await putFile(store, to.name, from.name)
  else if (to.kind === 'volume' && from.kind === 'volume') putFrame(store, payload, to, from)
  else throw new Error(`payload ${payload} is in a ${from.kind} of the backup and in a ${to.kind} of the store`)
}

async function putFile({ disk, paths, existing }: HealedStore, name: string, from: string): Promise<void> {
  const source = existing.disk.openToRead(existing.backup.file(from))
  try {
    for (const directory of [paths.fileDirectory(name), paths.uploads]) disk.makeDirectory(directory)
    // What a crash leaves there is removed by the next start.
    const making = paths.upload(randomBytes(14).toString('hex'))
    await writeNewFile(disk, paths.file(name), making, piecesOfFile(source), () => undefined)
  } finally {
    source.close()
  }
}

/** Overwrites the frame in place; a volume that is gone is made again, with this frame alone. */
function putFrame(
  { disk, paths, existing }: HealedStore,
  payload: PayloadId,
  { volume, offset, length, checksum }: VolumeLocation,
  from: VolumeLocation,
): void {
  const bytes = Buffer.alloc(from.length)
  const source = existing.disk.openToRead(existing.backup.volume(from.volume))
  try {
    source.readAt(bytes, from.offset, from.length)
  } finally {
    source.close()
  }
  if (bytes.length !== length || crc32(bytes) !== checksum)
    throw new Error(`payload ${payload} changed while it was read`)
  const frame = Buffer.alloc(frameBytes(length))
  encodeFrame(frame, 0, payload, bytes, checksum)
  const path = paths.volume(volume)
  const isNew = !disk.exists(path)
  if (isNew) disk.makeDirectory(paths.volumes)
  const target = isNew ? disk.create(path) : disk.openToWrite(path)
  try {
    if (isNew) target.writeAt(encodeVolumeHeader(volume), 0)
    target.writeAt(frame, offset - FRAME_HEADER.bytes)
    target.sync()
  } finally {
    target.close()
  }
  if (isNew) disk.syncDirectory(paths.volumes)
}

/** Of which payload a line is. */
function payloadOf(line: string): PayloadId {
  return Number(/^payload (\d+)/.exec(line)?.[1]) as PayloadId
}

/** The same lines with the objects that the payloads belong to. */
async function withNames(catalog: CatalogReader, { healed, left }: Healing): Promise<Healing> {
  const names = await namesOfPayloads(catalog, [...healed, ...left].map(payloadOf))
  const named = (line: string) => line.replace(':', `${inBrackets(names.get(payloadOf(line)))}:`)
  return { healed: healed.map(named), left: left.map(named) }
}

/** Reads back what was written. @throws ExitError `storeDamaged` when the disk did not keep it */
async function requireHealed(store: HealedStore, { healed }: Healing): Promise<void> {
  const ids = healed.map(payloadOf)
  if (ids.length === 0) return
  const payloads = new ProvedPayloads(store.disk, store.paths, store.sealer)
  try {
    for (const { payload, digest } of digestsOf(store, ids)) {
      const location = store.catalog.snapshot().payload(payload)
      if (location === undefined || location.kind === 'parts') continue
      const fault = await payloads.faultOf(location, digest)
      if (fault !== undefined)
        throw new ExitError('storeDamaged', `payload ${payload} was written and is still damaged: ${fault}`)
    }
  } finally {
    payloads.close()
  }
}
