/** What policies allow, by the specification (Policy) and the page of operations: without a line of the server's own judgement. */
import type { ModelRequest } from '../../model/expectation.ts'

export interface NaiveStatement {
  readonly effect: 'allow' | 'deny'
  readonly actions: readonly string[]
  readonly resources: readonly string[]
}

/** What a request needs to be allowed. */
interface Need {
  readonly action: string
  readonly resource: string
  /** An action whose permission is one to this as well. */
  readonly or?: string
  /** Where all keys that a listing shows begin: a wildcard that covers them is enough. */
  readonly under?: string
}

/** Actions by method and subresource (spec/manual/s3/operations.md). */
const OF_BUCKET: Readonly<Record<string, readonly [action: string, or?: string]>> = {
  'GET ': ['s3:ListBucket'],
  'GET cors': ['s3:GetBucketCORS', 's3:ManageBucket'],
  'GET location': ['s3:GetBucketLocation'],
  'GET object-lock': ['s3:GetBucketObjectLockConfiguration', 's3:ManageBucket'],
  'GET uploads': ['s3:ListBucketMultipartUploads'],
  'GET versioning': ['s3:GetBucketVersioning', 's3:ManageBucket'],
  'GET versions': ['s3:ListBucketVersions'],
  'HEAD ': ['s3:ListBucket'],
  'PUT ': ['s3:CreateBucket'],
  'PUT cors': ['s3:ManageBucket'],
  'PUT object-lock': ['s3:ManageBucket'],
  'PUT versioning': ['s3:ManageBucket'],
  'DELETE ': ['s3:DeleteBucket'],
  'DELETE cors': ['s3:ManageBucket'],
}

const OF_KEY: Readonly<Record<string, string>> = {
  'GET ': 's3:GetObject',
  'GET legal-hold': 's3:GetObjectLegalHold',
  'GET retention': 's3:GetObjectRetention',
  'GET uploadId': 's3:ListMultipartUploadParts',
  'HEAD ': 's3:GetObject',
  'PUT ': 's3:PutObject',
  'PUT legal-hold': 's3:PutObjectLegalHold',
  'PUT renameObject': 's3:PutObject',
  'PUT retention': 's3:PutObjectRetention',
  'PUT uploadId': 's3:PutObject',
  'POST uploadId': 's3:PutObject',
  'POST uploads': 's3:PutObject',
  'DELETE ': 's3:DeleteObject',
  'DELETE uploadId': 's3:AbortMultipartUpload',
}

const BUCKET_SUBRESOURCES = ['cors', 'location', 'object-lock', 'uploads', 'versioning', 'versions', 'delete']
const KEY_SUBRESOURCES = ['legal-hold', 'retention', 'renameObject', 'uploadId', 'uploads']

/** What headers of a change need beside its action. */
const BY_HEADER: Readonly<Record<string, string>> = {
  'x-amz-object-lock-mode': 's3:PutObjectRetention',
  'x-amz-object-lock-retain-until-date': 's3:PutObjectRetention',
  'x-amz-object-lock-legal-hold': 's3:PutObjectLegalHold',
  'x-amz-write-offset-bytes': 's3:GetObject',
  'x-amz-bypass-governance-retention': 's3:BypassGovernanceRetention',
}

/** @returns undefined for what is judged key by key or bucket by bucket: a deletion of several keys, the list of buckets */
export function needsOf({ method, target, headers = [] }: ModelRequest): readonly Need[] | undefined {
  const [path = '', query = ''] = target.split('?')
  const [, bucket = '', ...segments] = path.split('/').map(decodeURIComponent)
  const names = new Set(query.split('&').map((one) => one.split('=')[0]))
  if (bucket === '') return undefined
  if (segments.length === 0) {
    const subresource = BUCKET_SUBRESOURCES.find((name) => names.has(name)) ?? ''
    if (subresource === 'delete') return undefined
    const [action, or] = known(OF_BUCKET, `${method} ${subresource}`)
    const prefix = action.startsWith('s3:List') && new URLSearchParams(query).get('prefix')
    const under = prefix ? { under: `bucket:${bucket}/${prefix}` } : {}
    return [{ action, resource: `bucket:${bucket}`, ...(or !== undefined && { or }), ...under }]
  }
  const resource = `bucket:${bucket}/${segments.join('/')}`
  const subresource = KEY_SUBRESOURCES.find((name) => names.has(name)) ?? ''
  const isOfVersion = method === 'DELETE' && names.has('versionId')
  const action = isOfVersion ? 's3:DeleteObjectVersion' : known(OF_KEY, `${method} ${subresource}`)
  const needs: Need[] = [{ action, resource }]
  if (method === 'GET' || method === 'HEAD') return needs
  for (const [name, value] of headers) {
    const further = BY_HEADER[name]
    if (further !== undefined) needs.push({ action: further, resource })
    if ((name === 'if-match' || name === 'if-none-match') && value !== '*')
      needs.push({ action: 's3:GetObject', resource })
    if (name === 'x-amz-copy-source') needs.push({ action: 's3:GetObject', resource: sourceOf(value) })
    if (name === 'x-amz-rename-source') {
      const source = sourceOf(value, bucket)
      needs.push({ action: 's3:GetObject', resource: source }, { action: 's3:DeleteObject', resource: source })
    }
  }
  return needs
}

/** Bucket and key that a header names, perhaps with a version. @param own the bucket of a source that is named without one */
function sourceOf(value: string, own?: string): string {
  const path = decodeURIComponent(value.split('?')[0] ?? '').replace(/^\//, '')
  return `bucket:${own === undefined || path.startsWith(`${own}/`) ? path : `${own}/${path}`}`
}

function known<T>(table: Readonly<Record<string, T>>, name: string): T {
  const found = table[name]
  if (found === undefined) throw new Error(`it is not known what ${name} needs`)
  return found
}

/** Whether all of it is allowed: a deny wins, and without an allow nothing is. */
export function isAllowedBy(statements: readonly NaiveStatement[], needs: readonly Need[]): boolean {
  return needs.every(({ action, resource, or, under }) => {
    const about = statements.filter(({ resources }) => resources.some((pattern) => fits(pattern, resource)))
    if (about.some((one) => one.effect === 'deny' && speaks(one, action))) return false
    const isAllowed = about.some(
      (one) => one.effect === 'allow' && [action, or].some((name) => name !== undefined && speaks(one, name)),
    )
    return isAllowed || (under !== undefined && isAllowedUnder(statements, action, under))
  })
}

function isAllowedUnder(statements: readonly NaiveStatement[], action: string, under: string): boolean {
  const covers = (pattern: string) => pattern.endsWith('*') && fits(pattern, under)
  const about = statements.filter((one) => one.resources.some(covers) && speaks(one, action))
  return about.length > 0 && about.every(({ effect }) => effect === 'allow')
}

function speaks({ actions }: NaiveStatement, name: string): boolean {
  return actions.some((pattern) => fits(pattern, name))
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
