import { auditResultOf } from '../../../engine/events/audit.ts'
import { isRowDamage } from '../../../engine/errors.ts'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import { MetricSlots, type SharedMetrics } from '../../../planes/metrics/metric-slots.ts'
import type { Histogram } from '../../../planes/metrics/metric-histogram.ts'
import type { RequestResult } from '../../../planes/metrics/metric-table.ts'
import type { Extensions } from '../../../planes/objects/s3-extensions.ts'
import type { Operation } from '../../../planes/s3/handling/operation.ts'
import type { FailedTarget, FinishedRequest, S3Telemetry } from '../../../planes/s3/telemetry.ts'
import { requestClassOf, UNKNOWN_OPERATION } from './metric-operations.ts'
import type { LogHandle } from '../log/logger.ts'

/** Where the requests of one operation are counted. */
interface OperationCounters {
  readonly slots: Readonly<Record<RequestResult, number>>
  readonly duration: Histogram
}

/** Counts and logs the requests of a front end. */
export class FrontEndTelemetry implements S3Telemetry {
  readonly #slots: MetricSlots
  readonly #region: Float64Array
  readonly #log: LogHandle
  readonly #logRequests: 'all' | 'errors' | 'none'
  readonly #thread: number
  readonly #extensions: Extensions
  readonly #counters = new Map<Operation | undefined, OperationCounters>()
  readonly #errors: number
  readonly #damage: number
  readonly #received: number
  readonly #sent: number

  /** @param extensions that are on */
  constructor(
    metrics: SharedMetrics,
    thread: number,
    log: LogHandle,
    logRequests: 'all' | 'errors' | 'none',
    extensions: Extensions,
  ) {
    this.#slots = new MetricSlots(metrics)
    this.#region = this.#slots.region(thread)
    this.#thread = thread
    this.#log = log
    this.#logRequests = logRequests
    this.#extensions = extensions
    this.#errors = this.#slots.slot('object_store_errors_total')
    this.#damage = this.#slots.damageSlot('read')
    this.#received = this.#slots.slot('object_store_received_bytes_total')
    this.#sent = this.#slots.slot('object_store_sent_bytes_total')
  }

  finished(request: FinishedRequest): void {
    const { slots, duration } = this.#countersOf(request.operation)
    this.#add(slots[auditResultOf(request.status)], 1)
    duration.observe(request.milliseconds / 1000)
    this.#add(this.#received, request.receivedBytes)
    this.#add(this.#sent, request.sentBytes)
    if (this.#logRequests === 'none' || (this.#logRequests === 'errors' && request.status < 400)) return
    this.#log.requests?.add(request)
  }

  failed(error: unknown, requestId: string, target: FailedTarget | undefined): void {
    if (isRowDamage(error)) {
      this.#add(this.#slots.damageSlot('rows'), 1)
      this.#log.log.error({ err: error, requestId, ...target }, 'a request met a damaged row of the projections')
      return
    }
    if (!(error instanceof PayloadDamagedError)) {
      this.#log.log.error({ err: error, requestId }, 'a request failed')
      return
    }
    this.#add(this.#damage, 1)
    this.#log.log.error({ err: error, requestId, object: error.object ?? target }, 'a request met a damaged object')
  }

  erred(): void {
    this.#add(this.#errors, 1)
  }

  #countersOf(operation: Operation | undefined): OperationCounters {
    let counters = this.#counters.get(operation)
    if (counters === undefined) {
      const name = operation?.name ?? UNKNOWN_OPERATION
      const slot = (result: RequestResult) => this.#slots.requestSlot(name, result)
      counters = {
        slots: { success: slot('success'), denied: slot('denied'), failure: slot('failure') },
        duration: this.#slots.requestDuration(this.#thread, 's3', requestClassOf(operation, this.#extensions)),
      }
      this.#counters.set(operation, counters)
    }
    return counters
  }

  #add(slot: number, value: number): void {
    this.#region[slot] = (this.#region[slot] ?? 0) + value
  }
}
