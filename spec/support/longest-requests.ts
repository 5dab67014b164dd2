/** The longest that a client can send where an answer could repeat it. */
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { Route } from '../../planes/management/routing/define-route.ts'
import type { Operation } from '../../planes/s3/handling/operation.ts'

/** Every answer that refuses is shorter, with its head. */
export const REFUSAL_BYTES_MAXIMUM = 4096

/** What answers escape into the most bytes, what they must not cut in two, and what is plain, as a request line has it. */
const TARGET_FILLS = [
  "'",
  '&',
  '<',
  '%22',
  '%01',
  '%C3%A9',
  '%E2%82%AC',
  '%F0%9F%98%80',
  '%EF%BF%BF',
  'a',
  '%',
] as const
/** The same for the values of headers. */
const HEADER_FILLS = ["'", '&', '<', '"', 'a', ','] as const
/** Of a head of 16 KiB, what its other lines leave. */
const FILL_BYTES = 15_200

export function filled(fill: string, bytes = FILL_BYTES): string {
  return fill.repeat(Math.floor(bytes / fill.length))
}

/** A request without its credentials. */
interface LongRequest {
  readonly method: string
  /** As it goes into the request line. */
  readonly target: string
  readonly headers: readonly HeaderLine[]
}

const PARAMETERS =
  'versionId uploadId partNumber prefix delimiter marker max-keys list-type encoding-type continuation-token start-after ' +
  'key-marker version-id-marker upload-id-marker part-number-marker max-parts response-content-type x-id X-Amz-Credential'
const HEADERS =
  'x-amz-copy-source x-amz-rename-source x-amz-copy-source-range if-match if-none-match range x-amz-meta-a content-md5 ' +
  'x-amz-checksum-crc32 x-amz-object-lock-mode x-amz-object-lock-retain-until-date x-amz-acl x-amz-tagging origin ' +
  'x-amz-object-attributes x-amz-write-offset-bytes x-amz-metadata-directive x-amz-client-token content-type'
const KINDS_OF_EACH = 4

/** Some of a list, by turns. */
function some(list: readonly string[], at: number): string[] {
  return Array.from({ length: KINDS_OF_EACH }, (_, index) => list[(at * KINDS_OF_EACH + index) % list.length] as string)
}

/** Requests for an operation: its key, parameters and headers, one of them long in each. `at` is its place in the table. */
export function longRequests(operation: Operation, bucket: string, at: number): LongRequest[] {
  const { method, level, subresource, mark } = operation
  const marked = mark?.query === undefined ? '' : `${mark.query}=${mark.value ?? 'x'}&`
  const own = `${marked}${subresource === undefined ? '' : `${subresource}&`}`
  const place = level === 'service' ? '/' : level === 'bucket' ? `/${bucket}` : `/${bucket}/key`
  const fills = some(TARGET_FILLS, at)
  const names = some(PARAMETERS.split(' '), at)
  const targets = [
    ...fills.map((fill) => `/${level === 'object' ? `${bucket}/` : ''}${filled(fill)}?${own}`),
    ...names.map((name, index) => `${place}?${own}${name}=${filled(fills[(index + 1) % KINDS_OF_EACH] as string)}`),
    `${place}?${own}${filled("'")}`,
  ]
  const lines = some(HEADERS.split(' '), at).map((name, index): HeaderLine => {
    return [name, filled(HEADER_FILLS[(at + index) % HEADER_FILLS.length] as string)]
  })
  return [
    ...targets.map((target) => ({ method, target, headers: [] })),
    ...lines.map((line) => ({ method, target: `${place}?${own}`, headers: [line] })),
  ]
}

/** Whether the target can be decoded, and so be signed. */
export function canBeSigned(target: string): boolean {
  return !/%(?![0-9A-F]{2})/.test(target)
}

/** Requests for a route: each part of its path, a parameter that it has, and one that it has not. */
export function longRouteRequests({ method, path, query }: Route, at: number): LongRequest[] {
  const fill = (index: number): string => TARGET_FILLS[(at + index) % TARGET_FILLS.length] as string
  const plain = path.replaceAll(/\{\w+\}/g, 'a')
  const names = Object.keys(query)
  const parts = (path.match(/\{\w+\}/g) ?? []).map((part, index) =>
    path.replace(part, filled(fill(index))).replaceAll(/\{\w+\}/g, 'a'),
  )
  const parameters = names.length === 0 ? [] : [`${plain}?${names[at % names.length]}=${filled(fill(3))}`]
  const targets = [...parts, ...parameters, `${plain}?${filled(fill(4))}=1`, `${plain}/${filled(fill(5))}`]
  return targets.map((target) => ({ method, target, headers: [] }))
}

/** Bodies that are as long as a route reads them, of what it would repeat. */
export function longBodies(bytes = 1024 ** 2): string[] {
  const room = bytes - 32
  return [
    JSON.stringify({ [filled('\u0001', room / 6)]: 1 }),
    JSON.stringify({ name: filled("'", room) }),
    `{"name":${filled('[', room / 2)}${filled(']', room / 2)}}`,
    filled('[', room),
  ]
}
