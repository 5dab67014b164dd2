/** Commands on settings of buckets and on certain versions, as the planes send them. */
import { branded, type Plain } from './plain.ts'
import { sequenceOf } from '../../engine/brands.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import type { VersionSelector } from '../../engine/commands/version-name.ts'
import type { CorsRule, DefaultRetention, Quota, Retention } from '../../engine/events/values.ts'
import { auditOf, deleteObject } from './commands.ts'

const UNLIMITED: Quota = { bytes: undefined, objects: undefined }

export function setVersioning(bucket: string, versioning: 'enabled' | 'suspended'): CommandOf<'set-versioning'> {
  return { kind: 'set-versioning', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, versioning }
}

export function setDefaultRetention(
  bucket: string,
  retention: DefaultRetention | undefined,
): CommandOf<'set-default-retention'> {
  return { kind: 'set-default-retention', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, retention }
}

export function setCors(bucket: string, rules: readonly CorsRule[]): CommandOf<'set-cors'> {
  return { kind: 'set-cors', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, rules }
}

/** What is not given is unlimited. */
export function setQuota(bucket: string, quota: Partial<Quota>): CommandOf<'set-quota'> {
  const audit = auditOf('PUT /quota', `bucket:${bucket}`)
  return { kind: 'set-quota', audit, bucket, quota: { ...UNLIMITED, ...quota } }
}

export function deleteVersion(
  bucket: string,
  key: string,
  version: VersionSelector | number,
  bypassGovernance = false,
): CommandOf<'delete-object'> {
  return branded({ ...deleteObject(bucket, key), version, bypassGovernance })
}

/** Of the current object, when no version is given. */
export function setRetention(
  bucket: string,
  key: string,
  retention: Plain<Retention> | undefined,
  version?: VersionSelector | number,
  bypassGovernance = false,
): CommandOf<'set-retention'> {
  const audit = auditOf('s3:PUT', `bucket:${bucket}/${key}`)
  return branded({ kind: 'set-retention', audit, bucket, key, version, retention, bypassGovernance })
}

export function setLegalHold(
  bucket: string,
  key: string,
  hold: boolean,
  version?: VersionSelector,
): CommandOf<'set-legal-hold'> {
  return { kind: 'set-legal-hold', audit: auditOf('s3:PUT', `bucket:${bucket}/${key}`), bucket, key, version, hold }
}

/** @param version a sequence, where it is not the current object */
export function setTags(bucket: string, key: string, tags: readonly string[], version?: number): CommandOf<'set-tags'> {
  const named = version === undefined ? undefined : sequenceOf(version)
  return { kind: 'set-tags', audit: auditOf('s3:PUT', `bucket:${bucket}/${key}`), bucket, key, version: named, tags }
}

export function setBucketTags(bucket: string, tags: readonly string[]): CommandOf<'set-bucket-tags'> {
  return { kind: 'set-bucket-tags', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, tags }
}
