import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { millisecondsOf } from '../../engine/brands.ts'
import { createLogger } from '../../cli/server/log/logger.ts'
import { RequestLines } from '../../cli/server/log/request-lines.ts'
import { getObject } from '../../planes/s3/operations/get-object.ts'
import type { FinishedRequest } from '../../planes/s3/telemetry.ts'

const REQUEST: FinishedRequest = {
  requestId: '0123456789ABCDEF01',
  method: 'GET',
  operation: getObject,
  route: '/{bucket}/{key}',
  status: 200,
  milliseconds: 1.23456,
  principal: 'service_account',
  receivedBytes: 0,
  sentBytes: 4096,
  code: undefined,
  unsupported: undefined,
}
const LINE = {
  level: 'info',
  thread: 'front-end-0',
  requestId: '0123456789ABCDEF01',
  method: 'GET',
  route: '/{bucket}/{key}',
  operation: 'GetObject',
  status: 200,
  milliseconds: 1.235,
  principal: 'service_account',
  receivedBytes: 0,
  sentBytes: 4096,
  msg: 'S3 request',
}
const UNSUPPORTED = { refused: 'x-amz-"\\\u0000é', reason: `not "supported": ${'é'.repeat(200)}` }

function linesOf(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

test('the line of a request by a link says nothing of the link', (t) => {
  const writes: string[] = []
  const lines = new RequestLines({
    bindings: {},
    clock: () => millisecondsOf(0),
    writeBytesMaximum: 1000,
    write: (text) => writes.push(text),
  })
  const asked = {
    requestId: '0123',
    method: 'GET',
    status: 410,
    milliseconds: 1.23456,
    principal: 'capability:public',
    sentBytes: 90,
  } as const
  const code = 'share-expired'
  lines.addAccess({ ...asked, route: '/s/{token}', access: 'share-page', code, refused: 'share.denied' })
  lines.addAccess({ ...asked, route: undefined, access: undefined, code: undefined, refused: undefined })
  lines.flush()
  const told = {
    level: 'info',
    time: '1970-01-01T00:00:00.000Z',
    ...asked,
    milliseconds: 1.235,
    msg: 'request by a link',
  }
  t.same(linesOf(writes.join('')), [{ ...told, route: '/s/{token}', operation: 'share-page', reason: code }, told])
  t.end()
})

test('lines of requests are JSON, and reach the log whole', async (t) => {
  const writes: string[] = []
  let now = millisecondsOf(Date.UTC(2026, 0, 31, 12))
  const lines = new RequestLines({
    bindings: { thread: 'front-end-0' },
    clock: () => now,
    writeBytesMaximum: 1000,
    write: (text) => writes.push(text),
  })
  for (let count = 0; count < 10; count += 1) lines.add(REQUEST)
  now = millisecondsOf(now + 1)
  lines.add({ ...REQUEST, operation: undefined, status: 501, code: 'not-implemented', unsupported: UNSUPPORTED })
  lines.add({ ...REQUEST, status: 404, code: 'object-not-found' })
  lines.add({ ...REQUEST, unsupported: { ...UNSUPPORTED, refused: undefined } })
  lines.add(REQUEST)
  lines.flush()
  lines.flush()
  for (const text of writes) t.ok(text.endsWith('\n') && Buffer.byteLength(text) <= 1000)
  const time = '2026-01-31T12:00:00.000Z'
  const later = '2026-01-31T12:00:00.001Z'
  const { operation: _, ...unknown } = LINE
  t.strictSame(linesOf(writes.join('')), [
    ...Array.from({ length: 10 }, () => ({ ...LINE, time })),
    { ...unknown, time: later, status: 501, ...UNSUPPORTED },
    { ...LINE, time: later, status: 404, reason: 'object-not-found' },
    { ...LINE, time: later, reason: UNSUPPORTED.reason },
    { ...LINE, time: later },
  ])
})

test('a line of a request is before what is logged after it, and does not wait for another', async (t) => {
  const path = join(t.testdir({ log: '' }), 'log')
  const logger = createLogger({ level: 'info', fileDescriptor: openSync(path, 'w') })
  logger.requests?.add(REQUEST)
  logger.log.info('after it')
  logger.requests?.add({ ...REQUEST, status: 404 })
  await logger.flush()
  t.match(linesOf(readFileSync(path, 'utf8')), [{ status: 200 }, { msg: 'after it' }, { status: 404 }])
  logger.requests?.add({ ...REQUEST, status: 304 })
  while (linesOf(readFileSync(path, 'utf8')).length < 4) await sleep(5)
  t.match(linesOf(readFileSync(path, 'utf8')).at(-1), { status: 304 })
  const quiet = createLogger({ level: 'warn', fileDescriptor: openSync(path, 'w') })
  t.equal(quiet.requests, undefined, 'a level above that of the lines leaves them out')
})

test('the log as text: time, level, message and fields, nothing that moves a cursor, an error with its stack', async (t) => {
  const path = join(t.testdir({ log: '' }), 'log')
  const logger = createLogger({ level: 'info', format: 'text', fileDescriptor: openSync(path, 'w') })
  logger.requests?.add(REQUEST)
  logger.log.warn({ path: 'a b\u001b[2J', count: 3, list: ['x'] }, 'a disk is full\u0007')
  logger.log.error({ err: new TypeError('broken') }, 'a request failed')
  await logger.flush()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  t.match(
    lines[0],
    /^\d\d:\d\d:\d\d\.\d{3}Z INFO {2}S3 request requestId=\S+ method=\S+ route=.* status=200 milliseconds=/,
  )
  t.match(lines[1], /^\S+ WARN {2}a disk is full\S* path="a b\S+" count=3 list=/)
  t.match(lines[2], /^\S+ ERROR a request failed$/)
  t.match(lines[3], /^ {4}TypeError: broken$/)
  t.match(lines[4], /^ {4}at /)
  const codes = [...readFileSync(path)].filter((byte) => byte < 0x20 && byte !== 0x0a)
  t.same(codes, [], 'no control character')
})
