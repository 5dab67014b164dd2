import type { RequestClass, RequestResult } from '../../../planes/metrics/metric-table.ts'
import type { Extensions } from '../../../planes/objects/s3-extensions.ts'
import { isServed, type Operation } from '../../../planes/s3/handling/operation.ts'
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'

/** Label of requests that were refused before their operation was known. */
export const UNKNOWN_OPERATION = 'unknown'

/** Values of the metric label `operation`. */
export const METRIC_OPERATIONS: readonly string[] = [UNKNOWN_OPERATION, ...OPERATIONS.map(({ name }) => name)]

/** Results that can occur, for operations where not all can. A refused operation has no series until it is asked for. */
export function expectedResults(extensions: Extensions): Readonly<Record<string, readonly RequestResult[]>> {
  const refused = OPERATIONS.filter((operation) => !isServed(operation, extensions))
  return { [UNKNOWN_OPERATION]: ['denied', 'failure'], ...Object.fromEntries(refused.map(({ name }) => [name, []])) }
}

/**
 * The class of a request, for its duration. `other`: preflights, unknown operations, and operations that are not
 * implemented.
 */
export function requestClassOf(operation: Operation | undefined, extensions: Extensions): RequestClass<'s3'> {
  if (operation === undefined || !isServed(operation, extensions) || operation.method === 'OPTIONS') return 'other'
  if (operation.method === 'DELETE') return 'delete'
  if (operation.changes) return 'write'
  return operation.level === 'object' ? 'read' : 'list'
}
