import { isObjectMeant, type ObjectConditions } from '../../../../engine/events/record-objects.ts'
import type { RecordLine } from './record-line.ts'
import { objectsOfLine } from './record-objects.ts'

/** Conditions on the audit fields of a record; undefined matches every record. */
interface RecordConditions extends ObjectConditions {
  readonly principal?: string | undefined
  readonly operation?: string | undefined
  /** Beginning of the resource. */
  readonly resource?: string | undefined
  readonly result?: string | undefined
  readonly requestId?: string | undefined
}

/** Makes one predicate of all conditions. A record without the field in question does not meet the condition. */
export function recordFilter(conditions: RecordConditions): (line: RecordLine) => boolean {
  const { principal, operation, resource, result, requestId, bucket, key, keyPrefix } = conditions
  const tests: ((line: RecordLine) => boolean)[] = []
  if (principal !== undefined) tests.push((line) => line.principal === principal)
  if (operation !== undefined) tests.push((line) => line.operation === operation)
  if (resource !== undefined) {
    tests.push((line) => typeof line.resource === 'string' && line.resource.startsWith(resource))
  }
  if (result !== undefined) tests.push((line) => line.result === result)
  if (requestId !== undefined) tests.push((line) => line.request_id === requestId)
  if ([bucket, key, keyPrefix].some((text) => text !== undefined)) {
    tests.push((line) => objectsOfLine(line).some((object) => isObjectMeant(object, conditions)))
  }
  return (line) => tests.every((test) => test(line))
}
