/** The objects of a printed record. */
import { objectsOfRecord, type RecordObject } from '../../../../engine/events/record-objects.ts'
import type { RecordLine } from './record-line.ts'

type Line = Pick<RecordLine, 'resource' | 'metadata'>

/** The buckets and objects of a record. */
export function objectsOfLine({ resource, metadata }: Line): RecordObject[] {
  return objectsOfRecord(typeof resource === 'string' ? resource : '', textsOf(metadata).flat())
}

/** Parts of a path of the management plane that name something else than a bucket. */
const NAMED_PARTS: readonly string[] = ['id', 'credential_id', 'policy_id', 'account_id', 'export_id']

/**
 * The subject of a record, in one cell: bucket and key, the version if one is named, the source of a copy; other
 * resources by their ids, or else as they are.
 */
export function targetOf({ resource, metadata }: Line): unknown {
  const texts = textsOf(metadata)
  const valueOf = (name: string): string | undefined => texts.findLast(([other]) => other === name)?.[1]
  const [source, version] = [valueOf('source'), valueOf('version_id')]
  const own = texts.filter(([name]) => name !== 'source')
  const [object] = objectsOfLine({ resource: resource ?? null, metadata: Object.fromEntries(own) })
  if (object === undefined || (object.bucket === '*' && object.key === undefined)) {
    const parts = NAMED_PARTS.flatMap((name) => valueOf(name) ?? [])
    return parts.length === 0 ? resource : parts.join(' ')
  }
  const key = object.key === undefined ? '' : `/${object.key}`
  const which = version === undefined ? '' : ` version ${version}`
  return `${object.bucket}${key}${which}${source === undefined ? '' : ` from ${source}`}`
}

/** Names and values of the texts in the metadata, which is an array of pairs where a name is repeated. */
function textsOf(metadata: Line['metadata']): [name: string, value: string][] {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return []
  const { pairs, ...members } = metadata as Readonly<Record<string, unknown>>
  const entries = Object.entries(members)
  if (Array.isArray(pairs)) {
    for (let index = 0; index + 1 < pairs.length; index += 2) entries.push([String(pairs[index]), pairs[index + 1]])
  }
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}
