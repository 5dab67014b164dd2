import { OPERATIONS } from '../../../planes/s3/operation-list.ts'

/** Label of requests that were refused before their operation was known. */
export const UNKNOWN_OPERATION = 'unknown'

/** Values of the metric label `operation`. */
export const METRIC_OPERATIONS: readonly string[] = [UNKNOWN_OPERATION, ...OPERATIONS.map(({ name }) => name)]
