/** Random pages of the listings. */
import * as fc from 'fast-check'
import { KEYS, type Place } from './choices.ts'
import { allVersions, type Model } from './model.ts'
import { listObjects } from './operations/list-objects.ts'
import { listUploads, type UploadMarkers } from './operations/list-uploads.ts'
import { listVersions, type VersionMarkers } from './operations/list-versions.ts'
import { type Recipe, recipe } from './recipes.ts'
import { wireId } from './state.ts'

const filter = {
  prefix: fc.constantFrom('', '', '', 'a', 'a/', 'a/b', '\u{ff5e}', 'none'),
  delimiter: fc.constantFrom('', '', '/', '/b', 'a'),
}
const size = fc.constantFrom(0, 1, 2, 3, 1000, 5000)
/** Keys, parts of keys, and what is no key but could be one. */
const marker = fc.constantFrom(undefined, undefined, ...KEYS, 'a/', 'a/a', 'aa', 'z')

const objects = recipe(
  'list objects',
  'a key',
  fc.record({ ...filter, maxKeys: size, startAfter: marker }),
  ({ startAfter, ...list }, _model, { bucket }) =>
    listObjects({ bucket, ...list, position: startAfter === undefined ? undefined : { afterKey: startAfter } }),
)

/** A listing is gone on with after other requests. */
const moreObjects = recipe('list more objects', 'nothing', size, (maxKeys, { openListing, world }) => {
  if (openListing === undefined || maxKeys === 0) return undefined
  const { bucket, created, ...listing } = openListing
  return world.buckets.get(bucket)?.created === created ? listObjects({ bucket, maxKeys, ...listing }) : undefined
})

function versionMarkers(model: Model, { bucket }: Place, nth: number): VersionMarkers | undefined {
  const there = allVersions(model.world)
    .filter((each) => each.bucket === bucket)
    .map(({ key, version }) => ({ keyMarker: key, versionIdMarker: wireId(version), serial: version.sequence }))
  const gone = model.gone
    .filter((each) => each.bucket === bucket)
    .map(({ key, id, serial }) => ({ keyMarker: key, versionIdMarker: id, serial }))
  const all = [...there, ...gone]
  return all[nth % all.length]
}

const versions = recipe(
  'list versions',
  'a key',
  fc.record({ ...filter, maxKeys: size, keyMarker: marker, version: fc.option(fc.nat(9), { nil: undefined }) }),
  ({ keyMarker, version, ...list }, model, at) => {
    const markers = version === undefined ? { keyMarker } : (versionMarkers(model, at, version) ?? { keyMarker })
    return listVersions({ bucket: at.bucket, ...list, ...markers })
  },
)

function uploadMarkers(model: Model, { bucket }: Place, nth: number): UploadMarkers | undefined {
  const uploads = model.world.uploadsOf(model.world.buckets.get(bucket)?.id ?? 0)
  const upload = uploads[nth % uploads.length]
  if (upload === undefined) return undefined
  return { keyMarker: upload.key, uploadIdMarker: upload.id, serial: upload.upload }
}

const uploads = recipe(
  'list uploads',
  'an upload',
  fc.record({
    ...filter,
    maxUploads: fc.constantFrom(1, 2, 1000),
    keyMarker: marker,
    upload: fc.option(fc.nat(9), { nil: undefined }),
  }),
  ({ keyMarker, upload, ...list }, model, at) => {
    const markers = upload === undefined ? { keyMarker } : (uploadMarkers(model, at, upload) ?? { keyMarker })
    return listUploads({ bucket: at.bucket, ...list, ...markers })
  },
)

export const listingRequest: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 3, arbitrary: objects },
  { weight: 3, arbitrary: moreObjects },
  { weight: 3, arbitrary: versions },
  { weight: 1, arbitrary: uploads },
)
