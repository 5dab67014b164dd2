import type { Operation } from './operation.ts'
import * as implemented from './operations/implemented.ts'
import { NOT_IMPLEMENTED } from './operations/not-implemented.ts'

/** Every operation of the S3 API by name: an operation that is not here does not exist. */
export const OPERATIONS: readonly Operation[] = [...Object.values(implemented), ...NOT_IMPLEMENTED]
