/** Records of every kind for specs of the audit log, and which of them a query wants, told in the plainest way. */
import type { AuditContext } from '../../engine/events/audit.ts'
import type { AuditQuery } from '../../projections/audit/audit-query.ts'
import type { AuditFilter } from '../../projections/audit/audit-filter.ts'
import type { JournalEntry } from './journal-entries.ts'

export const PRINCIPALS = ['anonymous', 'service_account:a', `service_account:${'b'.repeat(40)}`, 'système:é'] as const
export const OPERATIONS = ['s3:GET', 's3:PUT', 'GET /api/v1/buckets'] as const
const ADDRESSES = ['127.0.0.1', '2001:db8::1', undefined] as const
const REQUESTS = ['R1', 'R2', undefined] as const
export const RESOURCES = [
  'bucket:a',
  'bucket:a/x',
  'bucket:a/xy',
  `bucket:b/${'long/'.repeat(60)}`,
  `bucket:c/${'very-long/'.repeat(7000)}`.slice(0, 20_000),
  'bucket:é/\u{1f4be}',
] as const

export function pick<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T
}

/** What a record of the management plane says of its object, in some of the records. */
function objectOf(index: number): readonly string[] {
  if (index % 17 === 0) return ['bucket', 'a', 'key', pick(['x', 'xy'], Math.floor(index / 17))]
  if (index % 19 === 0) return ['bucket', 'b']
  return index % 23 === 0 ? ['source', 'a/x'] : []
}

/** The record of a number: every combination comes in its turn. */
export function contextOf(index: number): AuditContext {
  return {
    principal: pick(PRINCIPALS, index),
    credentialId: index % 5 === 0 ? undefined : `AK${index}`,
    sourceAddress: pick(ADDRESSES, Math.floor(index / 3)),
    requestId: pick(REQUESTS, Math.floor(index / 7)),
    operation: pick(OPERATIONS, Math.floor(index / 2)),
    // Long ones are rare, or there would be little else in the journal.
    resource: index % 193 === 0 ? RESOURCES[4] : pick(RESOURCES, index % 11 === 4 ? 0 : (index % 11) % 4),
    metadata: ['index', index, 'note', 'x'.repeat(index % 40), ...objectOf(index)],
  }
}

/** Whether one of the objects of a record meets every condition. */
function isAbout({ resource, details }: JournalEntry, { bucket, key, keyPrefix }: AuditFilter): boolean {
  const named = details.has('bucket') ? [[details.get('bucket'), details.get('key')].filter(Boolean).join('/')] : []
  const source = details.get('source') ?? []
  const paths = [...(resource.startsWith('bucket:') ? [resource.slice(7)] : []), ...named, source].flat().map(String)
  return (
    paths.some((path) => {
      const [first, ...rest] = path.split('/')
      const own = rest.length === 0 ? undefined : rest.join('/')
      if (keyPrefix !== undefined && !own?.startsWith(keyPrefix)) return false
      return (bucket ?? first) === first && (key ?? own) === own
    }) || (bucket ?? key ?? keyPrefix) === undefined
  )
}

type Range = Pick<AuditQuery, 'sinceMicroseconds' | 'untilMicroseconds'>

/** Sequences of the entries that a query wants. */
export function matching(all: readonly JournalEntry[], query: AuditFilter & Range): number[] {
  return all
    .filter((entry) => entry.timeMicroseconds >= query.sinceMicroseconds)
    .filter((entry) => entry.timeMicroseconds < query.untilMicroseconds)
    .filter((entry) => query.principal === undefined || entry.principal === query.principal)
    .filter((entry) => query.operation === undefined || entry.operation === query.operation)
    .filter((entry) => query.resourcePrefix === undefined || entry.resource.startsWith(query.resourcePrefix))
    .filter((entry) => query.result === undefined || entry.result === query.result)
    .filter((entry) => query.sourceAddress === undefined || entry.sourceAddress === query.sourceAddress)
    .filter((entry) => query.requestId === undefined || entry.requestId === query.requestId)
    .filter((entry) => (query.bucket ?? query.key ?? query.keyPrefix) === undefined || isAbout(entry, query))
    .map(({ sequence }) => sequence)
}
