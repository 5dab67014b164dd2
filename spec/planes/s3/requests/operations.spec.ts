/** Proves: DO-NOT-01, DO-NOT-06, DO-NOT-08, DO-NOT-12. */
import * as sdk from '@aws-sdk/client-s3'
import { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { OPERATIONS } from '../../../../planes/s3/operation-list.ts'
import { NO_EXTENSIONS } from '../../../../planes/objects/s3-extensions.ts'
import { isServed, type Operation } from '../../../../planes/s3/handling/operation.ts'
import { recognize } from '../../../../planes/s3/recognize-operation.ts'
import { effectiveAmzHeaders, effectiveHeader } from '../../../../planes/s3/request/effective-headers.ts'
import { refuseUnsupportedHeaders, UNSUPPORTED_HEADERS } from '../../../../planes/s3/unsupported-headers.ts'
import { detail, refusal, refusalCode, STRICT, wireRequest } from '../wire-request.ts'

function recognized(line: string, headers: readonly HeaderLine[] = []): Operation {
  const [method = '', rawTarget = ''] = line.split(' ')
  const { request, target } = wireRequest(method, rawTarget, headers)
  return recognize(method, target, request)
}

/** With `!` before it when the store does not do it by default. */
function shownName(operation: Operation): string {
  return isServed(operation, NO_EXTENSIONS) ? operation.name : `!${operation.name}`
}

/** The answer to a request: an operation's name, with `!` before it when the store does not do it, or an error code. */
function verdict(line: string, headers: readonly HeaderLine[] = []): string {
  let name = ''
  const code = refusalCode(() => {
    const operation = recognized(line, headers)
    name = shownName(operation)
  })
  return code ?? name
}

const PATHS = { service: '/', bucket: '/b', object: '/b/k' } as const

/** Rows without a command in the SDK for S3: of browsers, and of another service. */
const NO_COMMAND = [
  'ListenBucketNotification',
  'ListenNotification',
  'PostObject',
  'PreflightBucket',
  'PreflightObject',
  'SecurityTokenService',
  'SecurityTokenServiceQuery',
]

test('the table names every operation of the SDK, and nothing else', async (t) => {
  const commands = Object.keys(sdk).filter((name) => /^[A-Z].*Command$/.test(name))
  const known = commands.map((name) => name.slice(0, -'Command'.length)).filter((name) => name !== '')
  const rows = OPERATIONS.map((row) => row.name)
  t.same(rows.toSorted(), [...known, ...NO_COMMAND].toSorted())
  t.equal(new Set(rows).size, rows.length)
})

test('each row is recognized by what it says of itself', async (t) => {
  for (const row of OPERATIONS) {
    const query = row.subresource === undefined ? [] : [row.subresource]
    const headers: HeaderLine[] = []
    if (row.mark?.query !== undefined) query.push(`${row.mark.query}=${row.mark.value ?? 'x'}`)
    else if (row.mark !== undefined) headers.push([row.mark.header, 'b/s'])
    const line = `${row.method} ${PATHS[row.level]}?${[...query, 'x-id=Other'].join('&')}`
    // The mark of ListDirectoryBuckets is x-id itself.
    t.equal(recognized(line.replace(/&x-id=Other$/, ''), headers).name, row.name, line)
    t.equal(recognized(line, headers).name, row.name, `${line} with a parameter that S3 does not know`)
    for (const parameter of row.accepts) t.equal(recognized(`${line}&${parameter}=1`, headers).name, row.name)
  }
})

test('a known subresource never falls through to the plain operation', async (t) => {
  const known = new Set(OPERATIONS.flatMap((row) => (row.subresource === undefined ? [] : [row.subresource])))
  t.ok(known.size > 35)
  for (const name of known) {
    for (const [level, path] of Object.entries(PATHS)) {
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']) {
        const rows = OPERATIONS.filter((it) => it.method === method && it.level === level && it.subresource === name)
        const names = rows.map(shownName)
        const got = verdict(`${method} ${path}?${name}`)
        if (rows.length === 0) t.equal(got, 'MethodNotAllowed', `${method} ${path}?${name}`)
        else t.ok(names.includes(got), `${method} ${path}?${name} is ${got}`)
      }
    }
  }
})

function headerRefusal(headers: readonly HeaderLine[], query = '', method = 'PUT'): string | undefined {
  const { request, target } = wireRequest(method, `/b/k${query}`, headers)
  return refusalCode(() => {
    refuseUnsupportedHeaders(request, target, recognize(method, target, request), STRICT)
  })
}

test('unsupported headers, as headers and in a presigned query', async (t) => {
  for (const row of UNSUPPORTED_HEADERS) {
    const name = row.name.replace('*', row.name.endsWith('-*') ? 'something' : '-something')
    // Of the operations that do what a header asks for, none is a GET.
    for (const method of OPERATIONS.some(({ headers }) => headers.includes(row.name)) ? ['GET'] : ['PUT', 'GET']) {
      t.equal(headerRefusal([[name, 'other']], '', method), 'NotImplemented', name)
      t.equal(headerRefusal([], `?${name}=other`, method), 'NotImplemented', name)
      t.equal(headerRefusal([], `?${name.toUpperCase()}=other`, method), 'NotImplemented', name)
      t.equal(headerRefusal([[name, '']], '', method), 'NotImplemented', `${name}, empty`)
    }
    for (const value of row.accepted ?? []) {
      t.equal(headerRefusal([[name, value]]), undefined, `${name}: ${value}`)
      t.equal(headerRefusal([], `?${name}=${value}`), undefined, `${name}: ${value}`)
    }
  }
  for (const name of ['mode', 'retain-until-date', 'legal-hold']) {
    t.equal(headerRefusal([[`x-amz-object-lock-${name}`, 'x']]), undefined, name)
  }
  t.equal(headerRefusal([['x-amz-bypass-governance-retention', 'true']]), 'NotImplemented')
  t.equal(headerRefusal([['x-amz-bypass-governance-retention', 'true']], '', 'DELETE'), undefined)
  for (const acl of ['private', 'bucket-owner-full-control']) t.equal(headerRefusal([['x-amz-acl', acl]]), undefined)
  t.equal(headerRefusal([['x-amz-acl', 'public-read']]), 'NotImplemented')
  t.equal(headerRefusal([['x-amz-server-side-encryption', 'AES256']]), 'NotImplemented')
  t.equal(headerRefusal([['x-amz-storage-class', 'STANDARD']]), undefined)
  for (const coding of ['aws-chunked', 'gzip, AWS-Chunked', 'aws-chunked,gzip']) {
    t.equal(headerRefusal([['content-encoding', coding]]), 'NotImplemented', coding)
  }
  const pass: HeaderLine[] = [
    ['content-encoding', 'gzip'],
    ['x-amz-meta-acl', 'x'],
    ['x-amz-date', 'x'],
    ['x-amz-checksum-crc32', 'AAAAAA=='],
    ['x-amz-sdk-checksum-algorithm', 'CRC32'],
    ['x-amz-checksum-mode', 'ENABLED'],
    ['x-amz-request-payer', 'requester'],
    ['x-amzn-trace-id', 'x'],
  ]
  t.equal(headerRefusal(pass, '?x-id=PutObject&X-Amz-Algorithm=a&X-Amz-Signature=s&acl-like=1'), undefined)
  const { request, target } = wireRequest('PUT', '/b/k', [['x-amz-grant-read', 'id=1']])
  const error = refusal(() => {
    refuseUnsupportedHeaders(request, target, recognize('PUT', target, request), STRICT)
  })
  t.equal(detail(error, 'Header'), 'x-amz-grant-read')
  t.match(error.message, /x-amz-grant-read/)
})

test('a query parameter stands for its header', async (t) => {
  const query =
    '?X-Amz-Meta-A=%20q%20&x-amz-meta-b=2&x-amz-date=d&x-amz-checksum-crc32=AAAAAA==&x-amz-checksum-mode=ENABLED'
  const { request, target } = wireRequest('PUT', `/b/k${query}`, [
    ['x-amz-meta-b', 'h'],
    ['x-amz-meta-b', 'i'],
    ['content-type', 'c'],
  ])
  t.equal(effectiveHeader(request, target, 'x-amz-meta-a'), 'q')
  t.equal(effectiveHeader(request, target, 'x-amz-meta-b'), 'h,i')
  t.equal(effectiveHeader(request, target, 'content-type'), 'c')
  t.equal(effectiveHeader(request, target, 'x-amz-date'), undefined)
  t.equal(effectiveHeader(request, target, 'x-amz-checksum-crc32'), undefined)
  t.equal(effectiveHeader(request, target, 'x-amz-checksum-mode'), 'ENABLED')
  t.same(effectiveAmzHeaders(request, target), [
    ['x-amz-meta-b', 'h'],
    ['x-amz-meta-b', 'i'],
    ['x-amz-meta-a', 'q'],
    ['x-amz-checksum-mode', 'ENABLED'],
  ])
})
