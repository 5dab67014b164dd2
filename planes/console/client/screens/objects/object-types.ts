import type { Answer } from '../../api/call.ts'

export type ObjectVersion = Answer<'GET /buckets/{bucket}/object/{key}'>
