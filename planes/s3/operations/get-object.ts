import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import type { PayloadLocation } from '../../../engine/payloads/payload-reader.ts'
import { BodyRemovedError, type HttpResponse } from '../../http/exchange.ts'
import { requireObject } from '../lookup.ts'
import { isSamePlace, openPayload } from '../../objects/payload-body.ts'
import { planRead } from '../read-plan.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** An object can be replaced between the look into the catalog and the opening of its file; then one looks again. */
const LOOKS_MAXIMUM = 5

/** S3 API reference, GetObject. Small objects are answered at once, without a promise. */
export function getObject(request: S3Request, services: S3Services): HttpResponse | Promise<HttpResponse> {
  const found = requireObject(request, services)
  const plan = planRead(request, services, found)
  if (plan.status === 304 || plan.length === 0) return { status: plan.status, headers: plan.headers, body: '' }
  const location = services.catalog.payload(found.object.payload)
  if (location?.kind !== 'volume') return getLarge(request, services)
  let bytes: Buffer
  try {
    bytes = services.payloads.readSmall(location)
  } catch (error) {
    if (!(error instanceof PayloadDamagedError)) throw error
    return getLarge(request, services)
  }
  const part = plan.length === bytes.length ? bytes : bytes.subarray(plan.start, plan.start + plan.length)
  return { status: plan.status, headers: plan.headers, body: part }
}

async function getLarge(request: S3Request, services: S3Services): Promise<HttpResponse> {
  let failed:
    | { readonly error: PayloadDamagedError; readonly sequence: number; readonly location: PayloadLocation }
    | undefined
  for (let look = 1; ; look += 1) {
    const found = requireObject(request, services)
    const plan = planRead(request, services, found)
    const { sequence, payload } = found.object
    if (plan.status === 304 || plan.length === 0) return { status: plan.status, headers: plan.headers, body: '' }
    const location = services.catalog.payload(payload)
    if (location === undefined) throw new PayloadDamagedError(`payload ${payload} is not in the catalog`)
    // The same bytes in the same place: they are damaged, and were not replaced or moved.
    if (failed?.sequence === sequence && isSamePlace(failed.location, location)) throw failed.error
    try {
      const body = await openPayload(services, payload, location, plan.start, plan.start + plan.length)
      return { status: plan.status, headers: plan.headers, body }
    } catch (error) {
      if (look === LOOKS_MAXIMUM) throw error
      if (error instanceof BodyRemovedError) continue
      if (!(error instanceof PayloadDamagedError)) throw error
      failed = { error, sequence, location }
    }
  }
}
