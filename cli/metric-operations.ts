import { OPERATIONS } from '../planes/s3/operation-table.ts'

/** Label of requests that were refused before it was known what they ask for. */
export const UNKNOWN_OPERATION = 'unknown'

/** Values of the metric label `operation`. */
export const METRIC_OPERATIONS: readonly string[] = [UNKNOWN_OPERATION, ...OPERATIONS.map((row) => row.name)]
