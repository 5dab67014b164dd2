import { requireObject } from '../handling/lookup.ts'
import { planRead } from '../handling/read-plan.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, HeadObject: the head of GetObject. */
export const headObject = defineOperation({
  name: 'HeadObject',
  method: 'HEAD',
  level: 'object',
  action: 's3:GetObject',
  accepts: ['versionId', 'partNumber'],
  handle(request, services) {
    const plan = planRead(request, services, requireObject(request, services))
    return { status: plan.status, headers: plan.headers, contentLength: plan.length }
  },
})
