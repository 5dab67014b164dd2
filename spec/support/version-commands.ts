/** Commands on settings of buckets and on certain versions, as the planes send them. */
import type {
  DeleteObject,
  SetCors,
  SetDefaultRetention,
  SetLegalHold,
  SetQuota,
  SetRetention,
  SetVersioning,
  VersionSelector,
} from '../../engine/commands.ts'
import type { CorsRule, DefaultRetention, Quota, Retention } from '../../engine/events/changes.ts'
import { auditOf, deleteObject } from './commands.ts'

const UNLIMITED: Quota = { bytes: undefined, objects: undefined }

export function setVersioning(bucket: string, versioning: 'enabled' | 'suspended'): SetVersioning {
  return { kind: 'set-versioning', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, versioning }
}

export function setDefaultRetention(bucket: string, retention: DefaultRetention | undefined): SetDefaultRetention {
  return { kind: 'set-default-retention', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, retention }
}

export function setCors(bucket: string, rules: readonly CorsRule[]): SetCors {
  return { kind: 'set-cors', audit: auditOf('s3:PUT', `bucket:${bucket}`), bucket, rules }
}

/** What is not given is unlimited. */
export function setQuota(bucket: string, quota: Partial<Quota>): SetQuota {
  const audit = auditOf('PUT /quota', `bucket:${bucket}`)
  return { kind: 'set-quota', audit, bucket, quota: { ...UNLIMITED, ...quota } }
}

export function deleteVersion(
  bucket: string,
  key: string,
  version: VersionSelector,
  bypassGovernance = false,
): DeleteObject {
  return { ...deleteObject(bucket, key), version, bypassGovernance }
}

/** Of the current object, when no version is given. */
export function setRetention(
  bucket: string,
  key: string,
  retention: Retention | undefined,
  version?: VersionSelector,
  bypassGovernance = false,
): SetRetention {
  const audit = auditOf('s3:PUT', `bucket:${bucket}/${key}`)
  return { kind: 'set-retention', audit, bucket, key, version, retention, bypassGovernance }
}

export function setLegalHold(bucket: string, key: string, hold: boolean, version?: VersionSelector): SetLegalHold {
  return { kind: 'set-legal-hold', audit: auditOf('s3:PUT', `bucket:${bucket}/${key}`), bucket, key, version, hold }
}
