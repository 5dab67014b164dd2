import type { AuditContext, Pairs } from '../../engine/events/audit.ts'
import { boundedText } from '../../engine/events/bounded-text.ts'
import { storageEventId } from '../../projections/events/storage-event.ts'
import { systemAudit } from '../system-audit.ts'
import type { PendingReport } from './delivery-line.ts'

/** Of one list in a record; a longer one is cut, with its digest. */
const LIST_BYTES_MAXIMUM = 1024

type Told = Pick<PendingReport, 'report' | 'events'>

/**
 * The audit context of an entry with attempts of deliveries: to which webhooks, of which events, about which buckets. A
 * single bucket or object has the names by which a query finds it.
 */
export function deliveryAudit(reports: readonly Told[]): AuditContext {
  const webhooks = unique(reports.map(({ report }) => report.webhook))
  const events = reports.flatMap((report) => report.events)
  const attempts = reports.flatMap(({ report }) => report.attempts)
  const failed = attempts.filter(({ error }) => error !== undefined).length
  const resource = webhooks.length === 1 ? `webhook:${webhooks[0]}` : 'webhooks'
  const metadata = [
    ...listPair('webhooks', webhooks),
    ...listPair('events', unique(events.map(storageEventId))),
    ...aboutPairs(events),
    'attempts',
    attempts.length,
    'failed',
    failed,
  ]
  return { ...systemAudit('webhooks', 'webhook.deliver', resource), metadata }
}

function aboutPairs(events: Told['events']): Pairs {
  const buckets = unique(events.map(({ bucket }) => bucket))
  const [bucket] = buckets
  if (bucket === undefined) return []
  if (buckets.length > 1) return listPair('buckets', buckets)
  const keys = unique(events.map(({ object }) => object))
  const [key] = keys
  return keys.length === 1 && key !== undefined ? ['bucket', bucket, 'key', key] : ['bucket', bucket]
}

function listPair(name: string, items: readonly string[]): Pairs {
  return items.length === 0 ? [] : [name, boundedText(items.join(' '), LIST_BYTES_MAXIMUM)]
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)]
}
