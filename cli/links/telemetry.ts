import { isRowDamage } from '../../engine/errors.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import type { Histogram } from '../../planes/metrics/metric-histogram.ts'
import { MetricSlots, type SharedMetrics } from '../../planes/metrics/metric-slots.ts'
import { linkAccesses, type RequestClass } from '../../planes/metrics/metric-table.ts'
import type { FinishedAccess, SharingTelemetry } from '../../planes/links/sharing-plane.ts'
import type { Config } from '../config/config-types.ts'
import type { Logger } from '../server/log/logger.ts'
import type { RequestLines } from '../server/log/request-lines.ts'

interface Logs {
  /** Of faults. */
  readonly faults: Logger
  /** Of answered requests. */
  readonly requests: RequestLines | undefined
}

/** Counts and logs the requests by links of one thread. */
export class SharingCounters implements SharingTelemetry {
  readonly #slots: MetricSlots
  readonly #region: Float64Array
  readonly #durations: ReadonlyMap<RequestClass<'sharing'>, Histogram>
  readonly #logs: Logs
  readonly #logRequests: Config['log.requests']
  readonly #sent: number

  constructor(metrics: SharedMetrics, thread: number, logs: Logs, logRequests: Config['log.requests']) {
    const slots = new MetricSlots(metrics)
    const classes: readonly RequestClass<'sharing'>[] = [...linkAccesses, 'other']
    this.#slots = slots
    this.#region = slots.region(thread)
    this.#durations = new Map(classes.map((one) => [one, slots.requestDuration(thread, 'sharing', one)]))
    this.#logs = logs
    this.#logRequests = logRequests
    this.#sent = slots.slot('object_store_share_sent_bytes_total')
  }

  finished(finished: FinishedAccess): void {
    const { access, refused, status, milliseconds, sentBytes } = finished
    if (refused !== undefined) this.#add(this.#slots.accessDeniedSlot(refused), 1)
    else if (access !== undefined && status < 400) this.#add(this.#slots.accessSlot(access), 1)
    this.#durations.get(access ?? 'other')?.observe(milliseconds / 1000)
    this.#add(this.#sent, sentBytes)
    if (this.#logRequests === 'none' || (this.#logRequests === 'errors' && status < 400)) return
    this.#logs.requests?.addAccess(finished)
  }

  failed(error: unknown, requestId: string): void {
    const isDamage = error instanceof PayloadDamagedError
    if (isDamage) this.#add(this.#slots.damageSlot('read'), 1)
    if (isRowDamage(error)) this.#add(this.#slots.damageSlot('rows'), 1)
    const object = isDamage ? { object: error.object } : {}
    this.#logs.faults.error({ err: error, requestId, ...object }, 'a request by a link failed')
  }

  erred(): void {
    this.#add(this.#slots.slot('object_store_errors_total'), 1)
  }

  #add(slot: number, value: number): void {
    this.#region[slot] = (this.#region[slot] ?? 0) + value
  }
}
