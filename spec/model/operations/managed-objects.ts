/** Objects and versions through the management plane (spec/manual/management/routes.md). */
import { API } from '../../../planes/management/routing/define-route.ts'
import { copyObject as copying, deleteObject as deleting, write } from '../../support/commands.ts'
import { deleteVersion } from '../../support/version-commands.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import type { Content } from '../content.ts'
import { type ErrorCode, type Operation, type Outcome, refusals, targetOf } from '../expectation.ts'
import type { ModelState } from '../state.ts'
import { sameText } from './buckets.ts'
import { byRules, type Carried, MANAGEMENT_CODES, orRefused, selectorOf, type VersionName } from './by-rules.ts'
import { sourceOf } from './copies.ts'
import { isRefusal } from './reads.ts'
import { bodyOf } from './writes.ts'

interface Place {
  readonly bucket: string
  readonly key: string
}

interface Written {
  readonly key: string
  readonly version_id?: string
  readonly size?: number
  readonly etag?: string
}

/** What refusals of reads are called on this plane. */
const OF_READS: Readonly<Partial<Record<ErrorCode, ErrorCode>>> = {
  InvalidArgument: 'VERSION_NOT_FOUND',
  InvalidRequest: 'VERSION_IS_MARKER',
  NoSuchBucket: 'BUCKET_NOT_FOUND',
  NoSuchKey: 'OBJECT_NOT_FOUND',
  NoSuchVersion: 'VERSION_NOT_FOUND',
}

function pathOf(what: string, { bucket, key }: Place): string {
  return `${API}/buckets/${targetOf(what, key).replace('/', `${bucket}/`)}`
}

/** The object that is current now is shown. */
function written({ after }: Carried, { bucket, key }: Place) {
  const [made] = after.versions(after.buckets.get(bucket), key)
  const check = ({ text }: WireAnswer) => {
    const shown = JSON.parse(text) as Written
    return sameText([shown.key, shown.size, shown.etag], [key, made?.size, made?.etag])
  }
  return { status: 201, check }
}

function learn(after: ModelState, { bucket, key }: Place, { text }: WireAnswer): void {
  const [made] = after.versions(after.buckets.get(bucket), key)
  const id = (JSON.parse(text) as Written).version_id
  if (made !== undefined && !made.isNull) after.learn(made, id)
}

/** @param keeps an object that is there */
export function putManaged(place: Place, content: Content, type: string | undefined, keeps: boolean): Operation {
  const { bucket, key } = place
  const { bytes, md5 } = content
  const lines = type === undefined ? [] : ([['content-type', type]] as const)
  return {
    request: {
      method: 'PUT',
      target: pathOf('object', place),
      headers: [...lines, ...(keeps ? ([['if-none-match', '*']] as const) : [])],
      body: content,
    },
    outcomes: byRules(
      () => ({
        ...write(bucket, key, Buffer.alloc(0)),
        size: bytes.length,
        etag: md5,
        body: bodyOf(content),
        headers: lines.flat(),
        condition: keeps ? { kind: 'absent' } : { kind: 'none' },
      }),
      (carried) => written(carried, place),
      (after, answer) => learn(after, place, answer),
      MANAGEMENT_CODES,
    ),
  }
}

function copied(request: Operation['request'], source: VersionName, place: Place): Operation {
  const ruled = byRules(
    (world) => {
      const found = sourceOf(world, source)
      const sequence = isRefusal(found) ? 1 : found.sequence
      const sourceIsVersion = source.versionId !== undefined
      return { ...copying({ ...source, sequence }, place, undefined), sourceIsVersion }
    },
    (carried) => written(carried, place),
    (after, answer) => learn(after, place, answer),
    MANAGEMENT_CODES,
  )
  return {
    request,
    outcomes: (world, moment) => {
      const found = sourceOf(world, source)
      if (!isRefusal(found)) return ruled(world, moment)
      const codes = found.map(({ pattern: { code = 'NoSuchKey' } }) => OF_READS[code] ?? code)
      return orRefused(world, codes, ruled(world, moment))
    },
  }
}

export function copyManaged(source: VersionName, place: Place): Operation {
  const body = JSON.stringify({
    source_bucket: source.bucket,
    source_key: source.key,
    source_version_id: source.versionId,
  })
  return copied({ method: 'POST', target: pathOf('object-copy', place), body }, source, place)
}

/** Makes a version the current one again. */
export function restoreManaged(place: Place, versionId: string): Operation {
  const target = `${API}/restore${targetOf(place.bucket, place.key)}`
  const body = JSON.stringify({ version_id: versionId })
  return copied({ method: 'POST', target, body }, { ...place, versionId }, place)
}

export function deleteManaged(place: Place): Operation {
  return {
    request: { method: 'DELETE', target: pathOf('object', place) },
    outcomes: byRules(
      () => deleting(place.bucket, place.key),
      () => ({ status: 204 }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

/** Other than S3, this plane says that a version is not there, and passes no lock. */
export function deleteManagedVersion(place: Place, versionId: string): Operation {
  const { bucket, key } = place
  const ruled = byRules(
    (world) => deleteVersion(bucket, key, selectorOf(world, { ...place, versionId }) ?? 'unknown'),
    () => ({ status: 204 }),
    undefined,
    MANAGEMENT_CODES,
  )
  return {
    request: { method: 'DELETE', target: `${pathOf('object-versions', place)}?version_id=${versionId}` },
    outcomes: (world, moment): readonly Outcome[] => {
      const there = world.buckets.get(bucket)
      const selector = selectorOf(world, { ...place, versionId }) ?? 'unknown'
      const isThere = there === undefined || world.find(there, key, selector) !== undefined
      return isThere ? ruled(world, moment) : refusals(world, ['VERSION_NOT_FOUND'])
    },
  }
}
