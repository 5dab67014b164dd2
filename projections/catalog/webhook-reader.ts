import type { WebhookState } from '../../engine/domain/webhook-state.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { getAccessVersion } from '../tables/access.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import {
  type LoggedDelivery,
  newestLogged,
  progressRows,
  webhookRows,
  type WebhookProgress,
} from '../tables/webhooks.ts'

/** A POST in the delivery log, with its webhook. */
export interface DeliveryLogEntry extends LoggedDelivery {
  readonly webhook: string
}

/** Reads webhooks and how far their deliveries are, from any thread. Every call sees what was acknowledged before it. */
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

  /** The newest POSTs to one webhook, or to all, newest first. */
  log(webhook: string | undefined, limit: number): DeliveryLogEntry[] {
    this.#environment.refresh()
    const progress = progressRows.all(this.#tables.webhookProgress)
    const entries = progress
      .filter((one) => webhook === undefined || one.webhook === webhook)
      .flatMap((one) =>
        newestLogged(this.#tables.webhookLog, one.webhook, one.logged, limit).map((row) => ({
          webhook: one.webhook,
          ...row,
        })),
      )
    return entries.toSorted((left, right) => right.timeMicroseconds - left.timeMicroseconds).slice(0, limit)
  }
}
