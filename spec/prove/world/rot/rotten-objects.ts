/** Which objects have damaged bytes, by the rows of the catalog. */
import type { PayloadId } from '../../../../engine/brands.ts'
import type { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { FILE_TRAILER, fileBytes } from '../../../../engine/payloads/file-format.ts'
import type { PayloadLocation } from '../../../../engine/payloads/payload-reader.ts'
import { selectorOf } from '../../../../planes/objects/version-ids.ts'
import { HolderSearch } from '../../../../projections/catalog/payload-holders.ts'
import type { ManagedServer } from '../../../support/management-server.ts'
import { isRotten, type RottenPlace } from './rotten-place.ts'

const EVERYTHING = 1_000_000

/** Damaged payloads, and the versions that have their bytes. */
export interface RottenObjects {
  readonly payloads: ReadonlySet<PayloadId>
  /** By `nameOf`. */
  readonly versions: ReadonlySet<string>
}

export function rottenObjects({ store, paths }: ManagedServer, place: RottenPlace): RottenObjects {
  const snapshot = store.catalog.snapshot()
  const rows = snapshot.storedPayloads(0, EVERYTHING).filter(({ location }) => isHit(location, paths, place))
  const search = new HolderSearch(rows, EVERYTHING)
  while (snapshot.searchHolders(search, EVERYTHING));
  const versions = rows.flatMap(({ payload }) =>
    search
      .holdersOf(payload)
      .flatMap(({ bucketId, key, version }) =>
        version === undefined ? [] : nameOf(snapshot.bucketName(bucketId), key, version.sequence),
      ),
  )
  return { payloads: new Set(rows.map(({ payload }) => payload)), versions: new Set(versions) }
}

function isHit(location: PayloadLocation, paths: StorePaths, place: RottenPlace): boolean {
  if (location.kind === 'volume') {
    const { offset, length } = location
    return place.path === paths.volume(location.volume) && isRotten(place, offset, offset + length)
  }
  if (location.kind !== 'file' || place.path !== paths.file(location.name)) return false
  const end = fileBytes(location.sealed ? 'sealed' : 'plain', location.length)
  // An encrypted file has a key of its name, so its trailer is not looked at (spec/formats/payloads.md).
  return isRotten(place, 0, location.sealed ? end - FILE_TRAILER.bytes : end)
}

/** The version that a request for an object names, whether or not its bytes are damaged; undefined for another request. */
export function versionAsked(server: ManagedServer, method: string, target: string): string | undefined {
  const { pathname, searchParams } = new URL(target, 'http://world')
  const [, bucketName = '', ...rest] = pathname.split('/')
  const key = rest.map(decodeURIComponent).join('/')
  if (method !== 'GET' || key === '' || [...searchParams.keys()].some((name) => name !== 'versionId')) return undefined
  const snapshot = server.store.catalog.snapshot()
  const bucket = snapshot.bucket(bucketName)
  if (bucket === undefined) return undefined
  const id = searchParams.get('versionId')
  const selector = id === null ? undefined : (selectorOf(id, server.services.versionIds) ?? 'unknown')
  const found = selector === undefined ? snapshot.object(bucket.id, key) : snapshot.version(bucket.id, key, selector)
  return found && nameOf(bucketName, key, found.sequence)
}

function nameOf(bucket: string | undefined, key: string, sequence: number): string {
  return `${bucket}/${key}#${sequence}`
}
