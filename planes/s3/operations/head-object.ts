import type { HttpResponse } from '../../http/exchange.ts'
import { requireObject } from '../lookup.ts'
import { planRead } from '../read-plan.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, HeadObject: the head of GetObject. */
export function headObject(request: S3Request, services: S3Services): HttpResponse {
  const plan = planRead(request, services, requireObject(request, services))
  return { status: plan.status, headers: plan.headers, contentLength: plan.length }
}
