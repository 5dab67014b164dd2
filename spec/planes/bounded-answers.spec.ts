/** Whatever is asked, a refusal is a short answer: every code of every plane, and every operation and route over the wire. */
import * as fc from 'fast-check'
import { XMLValidator } from 'fast-xml-parser'
import tap, { type Test, test } from 'tap'
import { DOMAIN_ERRORS, type DomainErrorCode } from '../../engine/domain/error-table.ts'
import { DomainError } from '../../engine/errors.ts'
import { cutText } from '../../planes/exchange/cut-text.ts'
import { BusyError } from '../../engine/shares/shares.ts'
import type { HttpResponse } from '../../planes/http/exchange.ts'
import { ManagementError, type ManagementErrorCode, managementErrors } from '../../planes/management/errors.ts'
import { errorResponse as managementResponse } from '../../planes/management/responses.ts'
import { routeList } from '../../planes/management/routing/route-list.ts'
import { EXTENSIONS } from '../../planes/objects/s3-extensions.ts'
import { commonHeaders, errorResponse, toS3Error } from '../../planes/s3/documents/error-response.ts'
import { S3_ERRORS, S3Error, type S3ErrorCode } from '../../planes/s3/errors/s3-errors.ts'
import { OPERATIONS } from '../../planes/s3/operation-list.ts'
import { microsecondsOf } from '../../engine/brands.ts'
import { deleteResult } from '../../planes/s3/documents/delete-documents.ts'
import { listBucketsResult, listObjectsV2Result } from '../../planes/s3/documents/xml-documents.ts'
import { listObjectsV2Parameters } from '../../planes/s3/request/list-parameters.ts'
import { parseQuery } from '../../planes/s3/request/query-parameters.ts'
import { escapeXmlLossy } from '../../planes/s3/text/xml-writer.ts'
import { sharingErrors } from '../../planes/links/errors.ts'
import { messagePage, passwordPage } from '../../planes/links/pages.ts'
import { jsonAnswer, pageAnswer } from '../../planes/links/responses.ts'
import {
  canBeSigned,
  filled,
  longBodies,
  longRequests,
  longRouteRequests,
  REFUSAL_BYTES_MAXIMUM,
} from '../support/longest-requests.ts'
import { startManaged } from '../support/management-server.ts'
import { everyNth, runsOf } from '../support/share-of-cases.ts'
import { digestOf } from '../support/wire-deletions.ts'
import { anyCharacter } from '../support/any-character.ts'

/** Status line, Date, Content-Length and Connection, which the driver writes. */
const DRIVER_BYTES = 160
const REQUEST_ID = '0123456789ABCDEF01'
const ECHOES = ["'", '&', '"', '<', '\u0000', '\r', 'é', '€', '😀', '\uffff', '\ud800', 'a', '%27', '%']
const MEBIBYTE = 1024 ** 2

function bytesOf({ headers, body }: HttpResponse): number {
  if (typeof body === 'object' && !Buffer.isBuffer(body)) throw new Error('a refusal is whole')
  const head = headers.reduce(
    (bytes, [name, value]) => bytes + Buffer.byteLength(`${name}: ${value}\r\n`),
    DRIVER_BYTES,
  )
  return head + Buffer.byteLength(body ?? '')
}

test('a text that is cut ends in a whole character, before its escape would', async (t) => {
  t.equal(cutText("''''", 24, escapeXmlLossy), "''''", 'it is as long as there is room')
  t.equal(cutText("'''''", 24, escapeXmlLossy), "'''...")
  t.equal(cutText('aé😀b', 7, escapeXmlLossy), 'aé...')
  t.equal(cutText('a%27%27', 6, escapeXmlLossy), 'a...', 'nor in a percent-escape')
  t.equal(cutText('abc', 0, escapeXmlLossy), '...')
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), fc.nat(900), (text, bytes) => {
      const cut = cutText(text, bytes, escapeXmlLossy)
      if (Buffer.byteLength(escapeXmlLossy(text)) <= bytes) return cut === text
      const kept = cut.slice(0, -3)
      const next = /^[\ud800-\udbff]$/.test(kept.slice(-1)) && /^[\udc00-\udfff]/.test(text.slice(kept.length))
      return (
        cut.endsWith('...') &&
        text.startsWith(kept) &&
        !next &&
        Buffer.byteLength(escapeXmlLossy(cut)) <= Math.max(bytes, 3)
      )
    }),
    { numRuns: runsOf(2000, 500) },
  )
})

test('every code of S3 with the longest echo', async (t) => {
  for (const code of Object.keys(S3_ERRORS) as S3ErrorCode[]) {
    for (const echo of ECHOES) {
      const long = filled(echo, 65_536)
      const details = ['A', 'B', 'C', 'D'].map((name) => [name, long] as const)
      const error = new S3Error(code, { message: long, details })
      const response = errorResponse(error, 'GET', filled(echo, 16_384), REQUEST_ID)
      const bytes = bytesOf({ ...response, headers: [...response.headers, ...commonHeaders(REQUEST_ID)] })
      if (bytes >= REFUSAL_BYTES_MAXIMUM) t.fail(`${code} of ${JSON.stringify(echo)}: ${bytes}`)
      if (XMLValidator.validate(String(response.body)) !== true) t.fail(`${code} of ${JSON.stringify(echo)} is not XML`)
    }
  }
  t.pass('all of them')
})

test('every refusal of the engine, and a full gate', async (t) => {
  const path = filled("'", 16_384)
  for (const code of Object.keys(DOMAIN_ERRORS) as DomainErrorCode[]) {
    const { error } = toS3Error(new DomainError(code, filled('&', 16_384)))
    const bytes = bytesOf(errorResponse(error, 'GET', path, REQUEST_ID))
    if (bytes >= REFUSAL_BYTES_MAXIMUM) t.fail(`${code}: ${bytes}`)
  }
  const { error } = toS3Error(new BusyError())
  const response = errorResponse(error, 'GET', path, REQUEST_ID)
  t.equal(error.code, 'SlowDown')
  t.ok(bytesOf({ ...response, headers: [...response.headers, ...commonHeaders(REQUEST_ID)] }) < 1024)
  t.ok(bytesOf(managementResponse(new ManagementError('SLOW_DOWN'), 'r'.repeat(128))) < 1024)
})

test('a key of 1,024 plain bytes is whole in the answer', async (t) => {
  const key = 'k'.repeat(1024)
  const { body } = errorResponse(new S3Error('NoSuchKey', { details: [['Key', key]] }), 'GET', `/b/${key}`, REQUEST_ID)
  t.match(body, `<Key>${key}</Key>`)
  t.match(body, `<Resource>/b/${'k'.repeat(506)}...</Resource>`)
})

test('every code of the management plane and of links', async (t) => {
  for (const code of Object.keys(managementErrors) as ManagementErrorCode[]) {
    for (const echo of ECHOES) {
      const response = managementResponse(new ManagementError(code, filled(echo, 65_536)), 'r'.repeat(128))
      const bytes = bytesOf(response)
      if (bytes >= REFUSAL_BYTES_MAXIMUM) t.fail(`${code} of ${JSON.stringify(echo)}: ${bytes}`)
      const { message } = (JSON.parse(String(response.body)) as { error: { message: string } }).error
      if (!message.endsWith('...')) t.fail(`${code} of ${JSON.stringify(echo)} is not marked as cut`)
    }
  }
  for (const { status, sentence } of Object.values(sharingErrors)) {
    const pages = [messagePage(sentence), passwordPage('unlock', sentence)]
    for (const page of pages) t.ok(bytesOf(pageAnswer(status, page)) < REFUSAL_BYTES_MAXIMUM, sentence)
    t.ok(bytesOf(jsonAnswer(status, { error: { message: sentence, request_id: 'r'.repeat(128) } })) < 1024, sentence)
  }
})

test('the longest pages are as the page of capacity says', async (t) => {
  const key = "'".repeat(1024)
  const object = {
    key,
    lastModifiedMicroseconds: microsecondsOf(1_780_000_000_000_000),
    etag: `${'a'.repeat(32)}-10000`,
    size: 5 * 2 ** 40,
    checksum: { algorithm: 'sha256', composite: true },
  } as const
  const contents = Array.from({ length: 1000 }, () => object)
  const owner = { id: 'f'.repeat(64), displayName: 'a'.repeat(64) }
  const query = parseQuery(`fetch-owner=true&prefix=${filled("'")}`)
  const page = (encodingType: 'url' | undefined) => {
    const parameters = { ...listObjectsV2Parameters(query), encodingType }
    const rest = { bucket: 'b'.repeat(63), commonPrefixes: [], nextContinuationToken: 'A'.repeat(1400), owner }
    return Buffer.byteLength(listObjectsV2Result({ ...parameters, ...rest, contents, showsChecksums: true }))
  }
  t.ok(page(undefined) < 7 * MEBIBYTE, `${page(undefined)}`)
  t.ok(page('url') < 4 * MEBIBYTE, `${page('url')}`)
  const named = { key, versionId: 'v'.repeat(1024) }
  const failed = { ...named, error: new S3Error('NotImplemented', { message: "'".repeat(120) }) }
  const deleted = deleteResult(
    Array.from({ length: 1000 }, () => failed),
    false,
  )
  t.ok(Buffer.byteLength(deleted) < 8 * MEBIBYTE, `${Buffer.byteLength(deleted)}`)
  const bucket = { name: 'b'.repeat(63), createdMicroseconds: object.lastModifiedMicroseconds }
  const buckets = Array.from({ length: 10_000 }, () => bucket)
  t.ok(Buffer.byteLength(listBucketsResult({ owner, buckets, prefix: filled("'") })) < 2 * MEBIBYTE)
})

const server = await startManaged({ extensions: [...EXTENSIONS] })
tap.teardown(() => server.stop())
await server.raw('PUT', '/longest')
await server.raw('PUT', '/longest/key', { body: 'bytes' })

interface Sent {
  readonly name: string
  /** What is tried of it at least once, such as its operation. */
  readonly kinds: readonly string[]
  readonly send: () => Promise<{ readonly status: number; readonly headers: object; readonly body: Buffer }>
}

/** Sends them, several at once, and holds every refusal against its bound. */
async function hold(t: Test, all: readonly Sent[]): Promise<void> {
  const statuses = new Map<number, number>()
  const rest = [...everyNth(all, 5, ({ kinds }) => kinds)]
  const lane = async (): Promise<void> => {
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
      const { status, headers, body } = await one.send()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const head = Object.entries(headers).reduce((bytes, line) => bytes + line.join(': ').length + 2, 40)
      if (status >= 400 && head + body.length >= REFUSAL_BYTES_MAXIMUM) {
        t.fail(`${one.name.slice(0, 120)}: ${status} of ${head} and ${body.length} bytes`)
      }
      if (status === 500) t.fail(`${one.name.slice(0, 120)}: a fault of the server`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
  t.ok(
    [...statuses.keys()].some((status) => status >= 400),
    JSON.stringify([...statuses]),
  )
}

test('every operation of S3, with the longest heads', { timeout: 300_000 }, async (t) => {
  const all = OPERATIONS.flatMap((operation, at) =>
    longRequests(operation, 'longest', at).flatMap(({ method, target, headers }): Sent[] => {
      const name = `${operation.name} ${method} ${target} ${headers.join()}`
      const header = headers.map(([one]) => one)
      const stranger = { sign: false, headers: [...headers, ['authorization', filled("'", 500)]] } as const
      return [
        ...(canBeSigned(target)
          ? [{ name, kinds: [operation.name, ...header], send: () => server.raw(method, target, { headers }) }]
          : []),
        {
          name: `${name} of a stranger`,
          kinds: [`${operation.name} of a stranger`],
          send: () => server.raw(method, target, at % 2 === 0 ? { sign: false, headers } : stranger),
        },
      ]
    }),
  )
  await hold(t, all)
})

test('every operation that reads a document, with the longest bodies', { timeout: 300_000 }, async (t) => {
  const documents = OPERATIONS.filter(
    ({ bodyBytesMaximum }) => bodyBytesMaximum > 0 && bodyBytesMaximum <= 4 * MEBIBYTE,
  )
  const all = documents.flatMap(({ name, method, level, subresource, bodyBytesMaximum }) => {
    const query = name === 'CompleteMultipartUpload' ? 'uploadId=none' : (subresource ?? '')
    const target = `/longest${level === 'object' ? '/key' : ''}?${query}`
    const [room, root] = [bodyBytesMaximum - 200, name.replace(/^Put(Bucket|Object)?/, '')]
    const bodies = ["'", '&#65;', '&quot;', '<a/>'].flatMap((fill) => [
      filled(fill, room),
      `<${root}><Part><PartNumber>1</PartNumber><ETag>${filled(fill, room)}</ETag></Part></${root}>`,
    ])
    bodies.push(`<Delete><Object><Key>${filled("'", room)}</Key></Object></Delete>`, `<${'a'.repeat(room)}/>`)
    return bodies.map(
      (body, index): Sent => ({
        name,
        kinds: [name, `body ${index}`],
        send: () => server.raw(method, target, { body, headers: [digestOf(body)] }),
      }),
    )
  })
  await hold(t, all)
})

test('every route of the management plane, with the longest heads and bodies', { timeout: 300_000 }, async (t) => {
  const routes = routeList.filter(({ path }) => !path.endsWith('/events/stream'))
  const stranger = server.api.as(undefined)
  const bodies = longBodies()
  const all = routes.flatMap((route, at) => {
    const heads = longRouteRequests(route, at).flatMap(({ method, target }): Sent[] =>
      [server.api, stranger].map((api, sender) => ({
        name: `${method} ${target}`,
        kinds: [`${route.method} ${route.path} ${sender}`],
        send: () => api.send(method, target),
      })),
    )
    if (route.body === 'none') return heads
    const target = route.path.replaceAll(/\{\w+\}/g, 'a')
    const [raw] = [bodies[at % bodies.length] as string]
    const name = `${target} with a body`
    return [...heads, { name, kinds: [name], send: () => server.api.send(route.method, target, { raw }) }]
  })
  await hold(t, all)
})

test('an origin that no host can have is not repeated', async (t) => {
  const rule = '<AllowedOrigin>https://*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>'
  const body = `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>`
  t.equal((await server.raw('PUT', '/longest?cors', { body })).status, 200)
  for (const [length, allowed] of [
    [500, `https://${'a'.repeat(492)}`],
    [15_000, undefined],
  ] as const) {
    const headers = [['origin', `https://${'a'.repeat(length - 8)}`]] as const
    const answer = await server.raw('GET', '/longest/key', { sign: false, headers })
    t.equal(answer.headers['access-control-allow-origin'], allowed)
    t.equal(answer.status, 403)
  }
})

test('what became of a batch of deletions is bounded by its keys', async (t) => {
  const object = `<Object><Key>${"'".repeat(1300)}</Key><VersionId>${'"'.repeat(700)}</VersionId></Object>`
  const body = `<Delete>${object.repeat(1000)}</Delete>`
  const answer = await server.raw('POST', '/longest?delete', { body, headers: [digestOf(body)] })
  t.equal(answer.status, 200)
  t.match(answer.text, /<Code>KeyTooLongError<\/Code>/)
  t.ok(answer.body.length < 1000 * 2600, `${answer.body.length}`)
})
