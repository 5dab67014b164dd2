/**
 * Policies by name. When a policy is made from a name, the statements of that moment go into the journal: no later version of
 * the program changes what the policy allows (decision 0024).
 */
import { isBucketName } from '../../engine/domain/names.ts'
import type { PolicyStatement } from '../../engine/events/values.ts'
import { ExitError } from '../exit-codes.ts'

const READ_BUCKET = ['s3:GetBucketLocation', 's3:ListAllMyBuckets', 's3:ListBucket', 's3:ListBucketVersions']
const READ_KEYS = ['s3:GetObject', 's3:GetObjectAttributes', 's3:GetObjectTagging']
const WRITE_BUCKET = ['s3:GetBucketLocation', 's3:ListAllMyBuckets', 's3:ListBucketMultipartUploads']
const WRITE_KEYS = ['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts', 's3:PutObject', 's3:PutObjectTagging']

/** Actions on the bucket and on its keys, by name. */
const BUILT_IN = {
  read: { bucket: READ_BUCKET, keys: READ_KEYS },
  write: { bucket: WRITE_BUCKET, keys: WRITE_KEYS },
  'read-write': {
    bucket: [...READ_BUCKET, 's3:ListBucketMultipartUploads'],
    keys: [...READ_KEYS, ...WRITE_KEYS, 's3:DeleteObject', 's3:DeleteObjectTagging'],
  },
} as const satisfies Readonly<Record<string, { readonly bucket: readonly string[]; readonly keys: readonly string[] }>>

export type BuiltIn = keyof typeof BUILT_IN

/** Listings, which a policy for keys with a common beginning allows of this beginning alone. */
const LISTINGS: ReadonlySet<string> = new Set([
  's3:ListBucket',
  's3:ListBucketMultipartUploads',
  's3:ListBucketVersions',
])

/** What help says of each name. */
export const BUILT_IN_HELP =
  'read (get and list), write (put; neither read nor delete, but a put replaces), read-write (all three, and delete)'

/** Which keys a policy is for. */
interface Scope {
  readonly bucket: string
  /** What the keys begin with; empty: all of them. */
  readonly prefix: string
}

/** @throws ExitError `usage` */
export function builtInOption(option: string, given: string): BuiltIn {
  if (Object.hasOwn(BUILT_IN, given)) return given as BuiltIn
  throw new ExitError('usage', `${option} is ${BUILT_IN_HELP}, not ${given}`)
}

/** @throws ExitError `usage` */
export function scopeOf(bucket: string, prefix: string = ''): Scope {
  if (!isBucketName(bucket)) throw new ExitError('usage', `${bucket} is not a valid bucket name`)
  if (prefix.includes('*')) throw new ExitError('usage', `--prefix is what keys begin with, without *, not ${prefix}`)
  return { bucket, prefix: prefix.replace(/^\//, '') }
}

/** The statements of a built-in policy for one bucket and prefix. */
export function builtInStatements(name: BuiltIn, { bucket, prefix }: Scope): PolicyStatement[] {
  const { bucket: ofBucket, keys: ofKeys } = BUILT_IN[name]
  const isUnderPrefix = (action: string) => prefix !== '' && LISTINGS.has(action)
  return [
    { effect: 'allow', actions: ofBucket.filter((action) => !isUnderPrefix(action)), resources: [`bucket:${bucket}`] },
    {
      effect: 'allow',
      actions: [...ofKeys, ...ofBucket.filter(isUnderPrefix)],
      resources: [`bucket:${bucket}/${prefix}*`],
    },
  ]
}
