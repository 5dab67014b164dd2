import type { Answer } from '../../api/call.ts'
import type { Operations } from '../../../../../build/console-api/api.ts'
import type { Joined } from './join-records.ts'

type AuditPage = Answer<'GET /audit/events'>
export type AuditEvent = AuditPage['events'][number]
/** A request as one line of the list. */
export type AuditLine = Joined<AuditEvent>
type AuditQuery = Operations['GET /audit/events']['query']

/** The filters of the list, in the form of the screen's address. */
export type Filters = Pick<
  AuditQuery,
  | 'since'
  | 'until'
  | 'principal'
  | 'credential_id'
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
 * The filters in an address. To find attempts without an outcome, outcomes of any result and time must be loaded too.
 */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const { since, until, principal, credential_id, operation, resource, bucket, key, key_prefix } = query
  const { result, source_ip, request_id } = query
  const always = {
    since,
    principal,
    credential_id,
    operation,
    resource,
    bucket,
    key,
    key_prefix,
    source_ip,
    request_id,
  }
  return wantsOrphans(query) ? always : { ...always, until, result: isResult(result) ? result : undefined }
}
