import { answerPreflight } from '../cors/cors-requests.ts'
import { defineOperation } from '../handling/operation.ts'

/** A browser's question whether it may send a request to a bucket. It is never signed, so no policy applies. */
export const preflightBucket = defineOperation({
  name: 'PreflightBucket',
  method: 'OPTIONS',
  level: 'bucket',
  action: 's3:Preflight',
  handle: ({ http, target }, { catalog }) => answerPreflight(http, target, catalog),
})

/** The same for an object. */
export const preflightObject = defineOperation({
  name: 'PreflightObject',
  method: 'OPTIONS',
  level: 'object',
  action: 's3:Preflight',
  handle: ({ http, target }, { catalog }) => answerPreflight(http, target, catalog),
})
