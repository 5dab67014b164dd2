import type { Operation } from './handling/operation.ts'
import * as implemented from './operations/implemented.ts'
import { NOT_IMPLEMENTED } from './operations/not-implemented.ts'

/** Every operation of the S3 API, implemented or not. */
export const OPERATIONS: readonly Operation[] = [...Object.values(implemented), ...NOT_IMPLEMENTED]
