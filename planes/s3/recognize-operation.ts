/** Finds the operation that a request asks for. */

import type { HttpRequest } from '../http/exchange.ts'
import { effectiveHeader } from './request/effective-headers.ts'
import { invalidArgument, S3Error } from './errors/s3-errors.ts'
import type { Level, Method, Operation } from './handling/operation.ts'
import { OPERATIONS } from './operation-list.ts'
import type { Target } from './request/target.ts'

type Rows = readonly Operation[]

/** Rows by `level method subresource`, marked ones first. */
const ROWS: ReadonlyMap<string, Rows> = groupRows()

function groupRows(): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const row of OPERATIONS) {
    const name = place(row.level, row.method, row.subresource)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [row])
    else if (row.mark === undefined) group.push(row)
    else group.unshift(row)
  }
  return groups
}

/** Query parameters that select an operation. A query with one of them never falls through to the plain resource. */
const SUBRESOURCES: ReadonlySet<string> = new Set(
  OPERATIONS.flatMap((row) => (row.subresource === undefined ? [] : [row.subresource])),
)

/** Query parameters that modify an operation; refused by operations that do not accept them. */
const MODIFIERS: ReadonlySet<string> = new Set(['versionId', 'partNumber'])

/**
 * Finds the operation. Query parameters unknown to S3, such as `x-id`, are ignored.
 * @param method as sent; methods are case-sensitive
 * @throws S3Error MethodNotAllowed (the resource has no such method), InvalidArgument (two subresources at once, or a
 *   versionId or partNumber where it means nothing)
 */
export function recognize(method: string, target: Target, request: HttpRequest): Operation {
  const level = levelOf(target)
  // A preflight carries the query of the request to come, which does not select the preflight's operation.
  const plain = target.query.entries.length === 0 || method === 'OPTIONS'
  const subresource = plain ? undefined : findSubresource(target)
  const operation = findRow(level, method, subresource, target, request)
  if (operation === undefined) throw methodNotAllowed(level, method, subresource)
  if (!plain) refuseStrayModifiers(operation, target)
  return operation
}

/** The operation of a request; undefined where `recognize` would refuse. */
export function findOperation(method: string, target: Target, request: HttpRequest): Operation | undefined {
  const named = target.query.entries.find(([name]) => SUBRESOURCES.has(name))?.[0]
  return findRow(levelOf(target), method, named, target, request)
}

function levelOf(target: Target): Level {
  if (target.bucket === undefined) return 'service'
  return target.key === undefined ? 'bucket' : 'object'
}

function findRow(
  level: Level,
  method: string,
  subresource: string | undefined,
  target: Target,
  request: HttpRequest,
): Operation | undefined {
  return ROWS.get(place(level, method, subresource))?.find((row) => hasMark(row, target, request))
}

function place(level: Level, method: string, subresource: string | undefined): string {
  return subresource === undefined ? `${level} ${method}` : `${level} ${method} ?${subresource}`
}

function findSubresource(target: Target): string | undefined {
  let found: string | undefined
  for (const [name, value] of target.query.entries) {
    if (!SUBRESOURCES.has(name)) continue
    if (found !== undefined && found !== name) {
      throw invalidArgument(name, value, `The query parameters ${found} and ${name} select different operations.`)
    }
    found = name
  }
  return found
}

function hasMark(row: Operation, target: Target, request: HttpRequest): boolean {
  const { mark } = row
  if (mark === undefined) return true
  if (mark.query === undefined) return effectiveHeader(request, target, mark.header) !== undefined
  return mark.value === undefined ? target.query.has(mark.query) : target.query.first(mark.query) === mark.value
}

function refuseStrayModifiers(operation: Operation, target: Target): void {
  for (const [name, value] of target.query.entries) {
    if (!MODIFIERS.has(name) || operation.accepts.some((accepted) => accepted === name)) continue
    throw invalidArgument(name, value, `${operation.name} does not accept the query parameter ${name}.`)
  }
}

const METHODS: readonly Method[] = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS']

/** A 405, which lists the allowed methods (RFC 9110 section 15.5.6). */
function methodNotAllowed(level: Level, method: string, subresource: string | undefined): S3Error {
  const allowed = METHODS.filter((candidate) => ROWS.has(place(level, candidate, subresource)))
  const details = [
    ['Method', method],
    ['ResourceType', subresource ?? level],
  ] as const
  return new S3Error('MethodNotAllowed', { details, headers: [['allow', allowed.join(', ')]] })
}
