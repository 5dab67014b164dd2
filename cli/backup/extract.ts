import type { Disk } from '../../engine/disk/disk.ts'
import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import { findKeys } from '../../engine/journal/key-file.ts'
import { OpaqueIds } from '../../engine/keys/opaque-ids.ts'
import type { StoreKeys } from '../../engine/keys/store-keys.ts'
import { PayloadReader } from '../../engine/payloads/payload-reader.ts'
import { PayloadSealer } from '../../engine/payloads/sealing.ts'
import { findObject, type FoundObject } from '../../planes/objects/find-object.ts'
import { piecesOf, readObject } from '../../planes/objects/read-object.ts'
import { selectorOf } from '../../planes/objects/version-ids.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import { ExitError } from '../exit-codes.ts'
import { type ExistingBackup, existingBackup, requirePoint } from './checked-backup.ts'
import { writeNewFile } from './new-file.ts'
import { withBackupState } from './temporary-state.ts'

/** The object to take out of a backup. */
export interface WantedObject {
  readonly bucket: string
  readonly key: string
  /** As clients see it; undefined for the current version. */
  readonly versionId: string | undefined
}

interface ExtractOptions {
  /** As it was at this record; undefined for the newest point. */
  readonly at: number | undefined
  /** Needed for encrypted objects, and for version ids. */
  readonly masterKey: Uint8Array | undefined
  readonly progress: (text: string) => void
}

interface ExtractReport {
  readonly bytes: number
  /** In hexadecimal. */
  readonly sha256: string
  /** Whether the journal has the digest of the whole, which is computed some time after an object of parts was completed. */
  readonly isDigestKnown: boolean
  /** Sequence of the entry that wrote the version. */
  readonly version: number
}

/**
 * Writes one object of a backup to a file, which appears when its bytes have the digest that the journal of the backup states.
 * Needs nothing but the backup, and the master key where the object is encrypted.
 * @throws ExitError `notFound`, `masterKey`, `usage`; `storeDamaged` for a backup whose bytes are not right; MasterKeyMismatchError, and
 *   the errors of the disk
 */
export async function extractObject(
  disk: Disk,
  from: string,
  wanted: WantedObject,
  to: string,
  options: ExtractOptions,
): Promise<ExtractReport> {
  const existing = existingBackup(disk, from)
  requirePoint(existing)
  const at = recordOf(existing, options.at)
  const keys = options.masterKey && findKeys(existing.disk, existing.backup, options.masterKey).ring.storeKeys()
  return withBackupState(disk, existing, at, options.progress, async ({ catalog }) => {
    const found = requireVersion(catalog, wanted, keys, `the backup at record ${at}`)
    if (keys === undefined && isSealed(found)) {
      throw new ExitError(
        'masterKey',
        `the object is encrypted: give the master key (OBJECT_STORE_CREDENTIAL_MASTER_KEY)`,
      )
    }
    const payloads = new PayloadReader(existing.disk, existing.backup, sealerOf(keys))
    try {
      return await writeObject(disk, { payloads, catalog }, found, to, options.progress)
    } finally {
      payloads.close()
    }
  })
}

function recordOf({ last: { point } }: ExistingBackup, at: number | undefined): Sequence {
  if (at === undefined) return point.sequence
  if (at <= point.sequence) return sequenceOf(at)
  throw new ExitError('notFound', `the backup ends with record ${point.sequence}, before ${at}`)
}

/** What opens encrypted payloads; undefined without keys. */
export function sealerOf(keys: StoreKeys | undefined): PayloadSealer | undefined {
  return (
    keys &&
    new PayloadSealer(
      keys.payloads,
      keys.earlier.map(({ payloads }) => payloads),
    )
  )
}

const ABSENT = {
  'no-object': 'has no object with this key',
  'no-version': 'has no such version of the object',
  marker: 'has a delete marker there, which has no bytes; name a version with --version-id',
} as const

/**
 * The version with bytes that a command names.
 * @param where for the message
 * @throws ExitError `notFound`, `usage`, `masterKey`
 */
export function requireVersion(
  catalog: CatalogReader,
  { bucket: name, key, versionId }: WantedObject,
  keys: StoreKeys | undefined,
  where: string,
): FoundObject {
  const snapshot = catalog.snapshot()
  const bucket = snapshot.bucket(name)
  if (bucket === undefined) throw new ExitError('notFound', `${where} has no bucket ${name}`)
  const found = findObject(snapshot, bucket, key, versionId === undefined ? undefined : selected(versionId, keys))
  if (found.kind !== 'found') throw new ExitError('notFound', `${where} ${ABSENT[found.kind]}`)
  return found
}

function selected(versionId: string, keys: StoreKeys | undefined) {
  if (versionId === 'null') return versionId
  if (keys === undefined) {
    throw new ExitError(
      'masterKey',
      'a version id can only be read with the master key (OBJECT_STORE_CREDENTIAL_MASTER_KEY)',
    )
  }
  const selector = selectorOf(versionId, new OpaqueIds(keys.versionIds))
  if (selector === undefined) throw new ExitError('usage', '--version-id: not a version id of this store')
  return selector
}

/** The payloads with the bytes of a version: itself, or its parts. */
export function payloadsOf({ snapshot, object: { payload } }: FoundObject) {
  if (payload === undefined) return []
  const location = snapshot.payload(payload)
  if (location?.kind !== 'parts') return [payload]
  const { parts } = location
  return Array.from({ length: parts.count }, (_, index) => parts.payload(index)).filter((part) => part !== undefined)
}

function isSealed(found: FoundObject): boolean {
  return payloadsOf(found).some((payload) => {
    const location = found.snapshot.payload(payload)
    return location !== undefined && location.kind !== 'parts' && location.sealed
  })
}

async function writeObject(
  disk: Disk,
  sources: Parameters<typeof readObject>[0],
  found: FoundObject,
  to: string,
  progress: (text: string) => void,
): Promise<ExtractReport> {
  const { object, snapshot } = found
  // Begun in the turn in which the object was found.
  const body = Promise.resolve(readObject(sources, found, 0, object.size))
  // A failure is met when it is awaited.
  body.catch(() => undefined)
  const location = object.payload === undefined ? undefined : snapshot.payload(object.payload)
  const digest = location?.kind === 'parts' ? location.digest : object.digest
  let sha256 = ''
  const bytes = await writeNewFile(disk, to, `${to}.partial-${process.pid}`, counted(body, progress), (actual) => {
    sha256 = actual.toString('hex')
    if (digest === undefined || actual.equals(digest)) return
    throw new ExitError('storeDamaged', 'the bytes in the backup do not have the digest that its journal states')
  })
  return { bytes, sha256, isDigestKnown: digest !== undefined, version: object.sequence }
}

async function* counted(
  body: Promise<Awaited<ReturnType<typeof readObject>>>,
  progress: (text: string) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const piece of piecesOf(await body)) {
    bytes += piece.length
    progress(`${(bytes / 1024 ** 2).toFixed(1)} MiB written`)
    yield piece
  }
}
