import type { HttpResponse } from '../../http/exchange.ts'
import { readObject, retryIfRemoved } from '../../objects/read-object.ts'
import { requireObject } from '../handling/lookup.ts'
import { planRead } from '../handling/read-plan.ts'
import type { S3Services } from '../handling/services.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, GetObject. Small objects are answered at once, without a promise. */
export const getObject = defineOperation({
  name: 'GetObject',
  method: 'GET',
  level: 'object',
  action: 's3:GetObject',
  accepts: ['versionId', 'partNumber'],
  handle(request, services) {
    const response = read(request, services)
    return response instanceof Promise ? retryIfRemoved(response, () => read(request, services)) : response
  },
})

function read(request: ObjectRequest, services: S3Services): HttpResponse | Promise<HttpResponse> {
  const found = requireObject(request, services)
  const { status, headers, start, length } = planRead(request, services, found)
  if (status === 304 || length === 0) return { status, headers, body: '' }
  const body = readObject(services, found, start, start + length)
  if (Buffer.isBuffer(body)) return { status, headers, body }
  return body.then((opened) => ({ status, headers, body: opened }))
}
