import type { WebhookState } from '../../engine/webhooks/state.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { getAccessVersion } from '../access/tables.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { type LoggedDelivery, newestLogged, progressRows, webhookRows, type WebhookProgress } from './tables.ts'

/** A POST in the delivery log, with its webhook. */
export interface DeliveryLogEntry extends LoggedDelivery {
  readonly webhook: string
}

/** Reads webhooks and how far their deliveries are, from any thread. Every call sees all acknowledged entries. */
export class WebhookReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** A number that changes with every change of webhooks, and of access. */
  version(): number {
    this.#environment.refresh()
    return getAccessVersion(this.#tables.accessVersion)
  }

  /** By id. */
  webhooks(): WebhookState[] {
    this.#environment.refresh()
    return webhookRows.all(this.#tables.webhooks)
  }

  webhook(webhook: string): WebhookState | undefined {
    this.#environment.refresh()
    return webhookRows.get(this.#tables.webhooks, webhook)
  }

  progress(webhook: string): WebhookProgress | undefined {
    this.#environment.refresh()
    return progressRows.get(this.#tables.webhookProgress, webhook)
  }

  /** The newest POSTs to one webhook, or to all, newest first. It reads as many rows as it returns, and one of each webhook. */
  log(webhook: string | undefined, limit: number): DeliveryLogEntry[] {
    this.#environment.refresh()
    const logs = progressRows
      .all(this.#tables.webhookProgress)
      .filter((one) => webhook === undefined || one.webhook === webhook)
      .map((one) => ({ webhook: one.webhook, rows: newestLogged(this.#tables.webhookLog, one.webhook, one.logged) }))
    let heads = logs.flatMap(({ webhook: of, rows }) => headOf(of, rows))
    const entries: DeliveryLogEntry[] = []
    while (entries.length < limit && heads.length > 0) {
      const newest = heads.reduce((one, other) => (other.row.timeMicroseconds > one.row.timeMicroseconds ? other : one))
      entries.push({ webhook: newest.webhook, ...newest.row })
      heads = heads.flatMap((head) => (head === newest ? headOf(head.webhook, head.rows) : [head]))
    }
    return entries.toSorted((left, right) => right.timeMicroseconds - left.timeMicroseconds)
  }
}

/** The newest row of a log, and its other rows. */
interface LogHead {
  readonly webhook: string
  readonly row: LoggedDelivery
  readonly rows: Generator<LoggedDelivery>
}

function headOf(webhook: string, rows: Generator<LoggedDelivery>): LogHead[] {
  const next = rows.next()
  return next.done === true ? [] : [{ webhook, row: next.value, rows }]
}
