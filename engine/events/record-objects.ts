import type { Pairs } from './audit.ts'

/** A bucket, or an object in it. */
export interface RecordObject {
  readonly bucket: string
  readonly key: string | undefined
}

const RESOURCE = 'bucket:'

/**
 * The buckets and objects of an audit record, on either plane: from the resource (data plane), from `bucket` and `key`
 * in the metadata (management plane), and the source of a copy. Bucket names have no slash, so the first slash ends the
 * name.
 */
export function objectsOfRecord(resource: string, metadata: Pairs): RecordObject[] {
  const objects: RecordObject[] = []
  if (resource.startsWith(RESOURCE)) objects.push(objectOf(resource.slice(RESOURCE.length)))
  let bucket: string | undefined
  let key: string | undefined
  for (let index = 0; index + 1 < metadata.length; index += 2) {
    const value = metadata[index + 1]
    if (typeof value !== 'string') continue
    if (metadata[index] === 'bucket') bucket = value
    else if (metadata[index] === 'key') key = value
    else if (metadata[index] === 'source') objects.push(objectOf(value))
  }
  if (bucket !== undefined) objects.push({ bucket, key })
  return objects
}

function objectOf(path: string): RecordObject {
  const slash = path.indexOf('/')
  return slash === -1 ? { bucket: path, key: undefined } : { bucket: path.slice(0, slash), key: path.slice(slash + 1) }
}

/** Which objects are meant; a condition that is undefined is met by all. */
export interface ObjectConditions {
  readonly bucket?: string | undefined
  readonly key?: string | undefined
  readonly keyPrefix?: string | undefined
}

/** Whether one object meets all conditions. A bucket has no key, so it meets no condition on one. */
export function isObjectMeant({ bucket, key }: RecordObject, conditions: ObjectConditions): boolean {
  if (conditions.bucket !== undefined && bucket !== conditions.bucket) return false
  if (conditions.key !== undefined && key !== conditions.key) return false
  return conditions.keyPrefix === undefined || key?.startsWith(conditions.keyPrefix) === true
}
