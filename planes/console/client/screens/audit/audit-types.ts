import type { Answer } from '../../api/call.ts'
import type { Operations } from '../../../../../build/console-api/api.ts'
import type { Joined } from './join-records.ts'

type AuditPage = Answer<'GET /audit/events'>
export type AuditEvent = AuditPage['events'][number]
/** A request as one line of the list. */
export type AuditLine = Joined<AuditEvent>
type AuditQuery = Operations['GET /audit/events']['query']

/** What the list is limited to, as the address of the screen has it. */
export type Filters = Pick<
  AuditQuery,
  | 'since'
  | 'until'
  | 'principal'
  | 'operation'
  | 'resource'
  | 'bucket'
  | 'key'
  | 'key_prefix'
  | 'result'
  | 'source_ip'
  | 'request_id'
>

const RESULTS = ['attempted', 'success', 'denied', 'failure'] as const

function isResult(text: string | undefined): text is (typeof RESULTS)[number] {
  return RESULTS.some((result) => result === text)
}

/** Whether only attempts without an outcome are wanted. */
export function wantsOrphans(query: Readonly<Record<string, string>>): boolean {
  return query['orphans'] === '1'
}

/**
 * The filters in an address. For attempts without an outcome the outcomes have to be seen too, whatever their result is
 * and whenever they came.
 */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const { since, until, principal, operation, resource, bucket, key, key_prefix, result, source_ip, request_id } = query
  const always = { since, principal, operation, resource, bucket, key, key_prefix, source_ip, request_id }
  return wantsOrphans(query) ? always : { ...always, until, result: isResult(result) ? result : undefined }
}
