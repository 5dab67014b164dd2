import { type HttpRequest, type HttpResponse, isSource } from '../http/exchange.ts'
import type { FoundObject } from '../objects/find-object.ts'
import { type PayloadSources, readObject, retryIfRemoved } from '../objects/read-object.ts'
import type { DeliveryPlan } from './delivery.ts'

/** An object to send, as found in this turn. */
interface Delivery {
  readonly target: FoundObject
  readonly plan: DeliveryPlan
  /** Called before the first byte is sent, after the bytes were found readable. Throws to refuse them. */
  readonly count: (() => Promise<unknown>) | undefined
}

/**
 * Sends the object that `begin` finds. Small objects are answered at once, without a promise.
 * @param begin looks up link and object; called again when the object was removed meanwhile
 */
export function sendObject(
  http: HttpRequest,
  sources: PayloadSources,
  begin: () => Delivery,
): HttpResponse | Promise<HttpResponse> {
  const response = sendOnce(http, sources, begin())
  if (!(response instanceof Promise)) return response
  return retryIfRemoved(response, () => sendOnce(http, sources, begin()))
}

function sendOnce(
  http: HttpRequest,
  sources: PayloadSources,
  { target, plan, count }: Delivery,
): HttpResponse | Promise<HttpResponse> {
  const { status, headers, start, length } = plan
  if (status === 304) return { status, headers }
  if (http.method === 'HEAD') return { status, headers, contentLength: length }
  const body = length === 0 ? '' : readObject(sources, target, start, start + length)
  if (body instanceof Promise) return body.then((opened) => counted({ status, headers, body: opened }, count))
  return counted({ status, headers, body }, count)
}

function counted(response: HttpResponse, count: Delivery['count']): HttpResponse | Promise<HttpResponse> {
  if (count === undefined) return response
  return count().then(
    () => response,
    (error: unknown) => {
      if (isSource(response.body)) response.body.close()
      throw error
    },
  )
}
