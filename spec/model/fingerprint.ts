/** Whether two states of the model are the same to clients. */
import { shownEvent } from './operations/list-events.ts'
import type { ModelBucket, ModelState, ModelVersion } from './state.ts'
import { wireId } from './state.ts'

/** A text that is the same for two states exactly when no request could tell them apart. */
export function fingerprint(state: ModelState): string {
  const names = [...state.buckets.keys()].toSorted()
  const buckets = names.map((name) => [name, fingerprintOfBucket(state, state.buckets.get(name))])
  const webhooks = [...state.webhooks].map(([id, { target, eventTypes, bucket, enabled }]) => {
    return [id, target, eventTypes, bucket, enabled]
  })
  return JSON.stringify([buckets, webhooks, state.events.map((event) => shownEvent(state, event))])
}

function fingerprintOfBucket(state: ModelState, bucket: ModelBucket | undefined): unknown {
  if (bucket === undefined) return undefined
  const { id: bucketId, keys: _keys, rules, ...settings } = bucket
  const uploads = state.uploadsOf(bucketId).map(({ id, key, headers, lock, created, tags, parts }) => {
    const ascending = [...parts].toSorted(([left], [right]) => left - right)
    return [
      id,
      key,
      headers,
      lock,
      created,
      tags,
      ascending.map(([number, { etag, modified }]) => [number, etag, modified]),
    ]
  })
  const completions = state.completions.flatMap(({ upload: { upload, id, key }, numbers }) => {
    const place = state.versions(bucket, key).findIndex((version) => isMadeBy(version, upload))
    return place === -1 ? [] : [[id, numbers, key, place]]
  })
  const keys = state.keys(bucket).map((key) => [key, state.versions(bucket, key).map(fingerprintOfVersion)])
  return [settings, [...rules], keys, uploads, completions.map((one) => JSON.stringify(one)).toSorted()]
}

function isMadeBy({ payload, sequence }: ModelVersion, upload: number): boolean {
  return payload?.id === upload && payload.completion === sequence
}

function fingerprintOfVersion(version: ModelVersion): unknown {
  const { isMarker, etag, headers, modified, lock, tags = [] } = version
  return [wireId(version), isMarker, etag, headers, modified, lock, tags]
}
