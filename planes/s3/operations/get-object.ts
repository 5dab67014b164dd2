import type { ObjectState } from '../../../engine/state-ports.ts'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import type { BodySource, HttpResponse } from '../../http/exchange.ts'
import { requireObject } from '../lookup.ts'
import { planRead, type ReadPlan } from '../read-plan.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** An object can be replaced between the look into the catalog and the opening of its file; then one looks again. */
const LOOKS_MAXIMUM = 5

/** S3 API reference, GetObject. Small objects are answered at once, without a promise. */
export function getObject(request: S3Request, services: S3Services): HttpResponse | Promise<HttpResponse> {
  const object = requireObject(request, services)
  const plan = planRead(request, services, object)
  if (plan.status === 304 || plan.length === 0) return { status: plan.status, headers: plan.headers, body: '' }
  const location = services.catalog.payload(object.payload)
  if (location?.kind !== 'volume') return getLarge(request, services, object)
  const bytes = services.payloads.readSmall(location)
  const part = plan.length === bytes.length ? bytes : bytes.subarray(plan.start, plan.start + plan.length)
  return { status: plan.status, headers: plan.headers, body: part }
}

async function getLarge(request: S3Request, services: S3Services, first: ObjectState): Promise<HttpResponse> {
  let object = first
  for (let look = 1; ; look += 1) {
    const plan = planRead(request, services, object)
    try {
      const body = await openBody(services, object, plan)
      return { status: plan.status, headers: plan.headers, body }
    } catch (error) {
      if (!(error instanceof PayloadDamagedError) || look === LOOKS_MAXIMUM) throw error
      const now = requireObject(request, services)
      if (now.sequence === object.sequence && services.catalog.payload(object.payload) !== undefined) throw error
      object = now
    }
  }
}

async function openBody(services: S3Services, object: ObjectState, plan: ReadPlan): Promise<BodySource | Buffer | ''> {
  if (plan.status === 304 || plan.length === 0) return ''
  const location = services.catalog.payload(object.payload)
  if (location === undefined) throw new PayloadDamagedError(`payload ${object.payload} is not in the catalog`)
  const end = plan.start + plan.length
  if (location.kind === 'volume') return services.payloads.readSmall(location).subarray(plan.start, end)
  const reader = await services.payloads.openLarge(location, plan.start, end)
  // The first block is proved before the status line goes out: damage there is an error the client can read.
  try {
    await reader.proveFirst()
  } catch (error) {
    reader.close()
    throw error
  }
  return reader
}
