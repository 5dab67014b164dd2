import { auditResultOf } from '../../../engine/events/audit.ts'
import { MetricSlots, type SharedMetrics } from '../../../planes/http/metric-slots.ts'
import type { FinishedRequest, S3Telemetry } from '../../../planes/s3/s3-plane.ts'
import { UNKNOWN_OPERATION } from './metric-operations.ts'
import type { LogHandle } from '../logger.ts'

/** Counts and logs the requests of a front end. */
export class FrontEndTelemetry implements S3Telemetry {
  readonly #slots: MetricSlots
  readonly #region: Float64Array
  readonly #log: LogHandle
  readonly #logRequests: 'all' | 'errors' | 'none'
  readonly #requestSlots = new Map<string, number>()
  readonly #errors: number
  readonly #received: number
  readonly #sent: number

  constructor(metrics: SharedMetrics, thread: number, log: LogHandle, logRequests: 'all' | 'errors' | 'none') {
    this.#slots = new MetricSlots(metrics)
    this.#region = this.#slots.region(thread)
    this.#log = log
    this.#logRequests = logRequests
    this.#errors = this.#slots.slot('object_store_errors_total')
    this.#received = this.#slots.slot('object_store_received_bytes_total')
    this.#sent = this.#slots.slot('object_store_sent_bytes_total')
  }

  finished(request: FinishedRequest): void {
    this.#add(this.#requestSlot(request), 1)
    this.#add(this.#received, request.receivedBytes)
    this.#add(this.#sent, request.sentBytes)
    if (this.#logRequests === 'none' || (this.#logRequests === 'errors' && request.status < 400)) return
    this.#log.requestLog.info(
      {
        requestId: request.requestId,
        method: request.method,
        route: request.route,
        operation: request.operation?.name,
        status: request.status,
        milliseconds: Math.round(request.milliseconds * 1000) / 1000,
        receivedBytes: request.receivedBytes,
        sentBytes: request.sentBytes,
        ...request.unsupported,
      },
      'S3 request',
    )
  }

  failed(error: unknown, requestId: string): void {
    this.#log.log.error({ err: error, requestId }, 'a request failed')
  }

  erred(): void {
    this.#add(this.#errors, 1)
  }

  #requestSlot(request: FinishedRequest): number {
    const operation = request.operation?.name ?? UNKNOWN_OPERATION
    const result = auditResultOf(request.status)
    const name = `${operation} ${result}`
    let slot = this.#requestSlots.get(name)
    if (slot === undefined) {
      slot = this.#slots.requestSlot(operation, result)
      this.#requestSlots.set(name, slot)
    }
    return slot
  }

  #add(slot: number, value: number): void {
    this.#region[slot] = (this.#region[slot] ?? 0) + value
  }
}
