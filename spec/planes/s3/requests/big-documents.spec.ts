/** Documents that are read in a thread: the same results, one at a time, and what happens when the thread or a client goes. */
import { hash } from 'node:crypto'
import tap, { test } from 'tap'
import { BusyError } from '../../../../engine/shares/shares.ts'
import { shareTable } from '../../../../engine/shares/share-table.ts'
import { ClientGoneError } from '../../../../planes/http/exchange.ts'
import { BigDocuments, bigDocuments } from '../../../../planes/s3/documents/big-documents.ts'
import {
  type DocumentJob,
  type DocumentName,
  type DocumentOf,
  readBody,
} from '../../../../planes/s3/documents/document-readers.ts'
import { S3Error } from '../../../../planes/s3/errors/s3-errors.ts'
import { createUpload, uploadTarget } from '../../../support/multipart.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isError } from '../../../support/wire-assertions.ts'
import { deletionDocument, digestOf } from '../../../support/wire-deletions.ts'

const MD5 = '9a0364b9e99bb480dd25e1f0284c8555'
const ROOT = 'CompleteMultipartUpload'
const STAYS = { onAborted: () => undefined }

/** Answers what it was sent; fails in the ways of a thread. */
const ECHO = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ rest: [order], body }) => {
    if (order === 'throw') throw new RangeError('made up')
    if (order === 'exit') process.exit()
    if (order === 'fill') for (const all = [];;) all.push(new Array(100_000).fill(0.5))
    if (order !== 'wait') parentPort.postMessage({ value: [order, Buffer.from(body).toString()] })
  })`)}`,
)

function completion(parts: number, etag = MD5, checksum = ''): string {
  const part = (number: number) =>
    `<Part><PartNumber>${number}</PartNumber><ETag>&quot;${etag}&quot;</ETag>${checksum}</Part>`
  return `<${ROOT}>${Array.from({ length: parts }, (_, index) => part(index + 1)).join('')}</${ROOT}>`
}

function job(name: DocumentName, document: string, ...rest: readonly unknown[]): DocumentJob {
  return { name, body: Buffer.from(document), rest }
}

function echo(order: string): DocumentJob {
  return job('cors', 'body', order)
}

function refusal(error: unknown) {
  if (!(error instanceof S3Error)) throw error
  return [error.code, error.message, error.details]
}

/** SHA-256 of each array: a difference between arrays of 160,000 bytes takes minutes to print. */
function plain(value: unknown) {
  const { parts, md5s, checksums } = value as DocumentOf<'completion'>
  return [parts, md5s, checksums?.values, checksums?.given].map((bytes) => bytes && hash('sha256', bytes, 'hex'))
}

async function turns(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setImmediate(resolve))
}

test('the thread reads what the event loop reads', async (t) => {
  const documents = new BigDocuments()
  const asked = { algorithm: 'crc32', composite: true } as const
  const list = completion(10_000, MD5, '<ChecksumCRC32>AAAAAA==</ChecksumCRC32>')
  t.same(
    plain(await documents.read('a', STAYS, job('completion', list, asked))),
    plain(readBody('completion', Buffer.from(list), [asked])),
  )
  const keys = deletionDocument(Array.from({ length: 1000 }, (_, index) => ({ Key: `é/${index}`, ETag: MD5 })))
  t.same(await documents.read('a', STAYS, job('deletions', keys)), readBody('deletions', Buffer.from(keys), []))
  const refusals = [completion(10_001), completion(2, 'x'), completion(3).slice(1), completion(1).replace('>1<', '>0<')]
  for (const document of refusals) {
    const here = await new Promise((resolve) => resolve(readBody('completion', Buffer.from(document), []))).catch(
      refusal,
    )
    t.same(await documents.read('a', STAYS, job('completion', document)).catch(refusal), here)
  }
  documents.end()
})

test('a thread that fails takes its document with it, and the next document gets a new thread', async (t) => {
  const documents = new BigDocuments({ program: ECHO })
  for (const [order, message] of [
    ['throw', 'the thread that reads documents failed: made up'],
    ['exit', 'the thread that reads documents ended'],
    ['fill', /the thread that reads documents failed: .*memory/],
  ] as const) {
    const failing = documents.read('a', STAYS, echo(order))
    const next = documents.read('a', STAYS, echo('next'))
    await t.rejects(failing, { message })
    t.same(await next, ['next', 'body'], `after ${order}`)
  }
  const waiting = documents.read('a', STAYS, echo('wait'))
  await turns(() => documents.isRunning)
  documents.end()
  await t.rejects(waiting, { message: 'the thread that reads documents was ended' })
  t.notOk(documents.isRunning)
  const gone = new BigDocuments({ program: new URL('file:///there/is/no/such/program.js') })
  await t.rejects(gone.read('a', STAYS, echo('next')), /reads documents failed/)
  const hanging = new BigDocuments({ program: ECHO, readMillisecondsMaximum: 1 })
  await t.rejects(hanging.read('a', STAYS, echo('wait')), { message: 'the thread that reads documents hangs' })
  t.notOk(hanging.isRunning)
})

test('documents wait for each other within bounds, and accounts take turns', async (t) => {
  const documents = new BigDocuments({ program: ECHO })
  const { waitingMaximum } = shareTable['big-documents']
  const order: string[] = []
  const read = (account: string) => documents.read(account, STAYS, echo('next')).then(() => order.push(account))
  const greedy = Array.from({ length: 1 + waitingMaximum }, () => read('greedy'))
  await t.rejects(read('greedy'), BusyError)
  const modest = read('modest')
  const settled = await Promise.allSettled([...greedy, modest])
  t.equal(order.indexOf('modest'), 1, 'is next, though the greedy one has waited longer')
  t.equal(settled.filter(({ status }) => status === 'rejected').length, 1, 'the newest of the greedy one made room')
  documents.end()
})

test('a document whose client has gone is not read', async (t) => {
  const documents = new BigDocuments({ program: ECHO })
  let leave: (() => void) | undefined
  const leaves = { onAborted: (listener: () => void) => void (leave = listener) }
  const first = documents.read('a', STAYS, echo('first'))
  const second = documents.read('a', leaves, echo('exit'))
  leave?.()
  t.same(await first, ['first', 'body'])
  await t.rejects(second, ClientGoneError)
  t.ok(documents.isRunning, 'it did not reach the thread')
  documents.end()
})

test('the thread ends when there are no documents', async (t) => {
  const documents = new BigDocuments({ program: ECHO, idleMilliseconds: 0 })
  t.notOk(documents.isRunning, 'it is started for the first one')
  for (const order of ['one', 'two']) {
    t.same(await documents.read('a', STAYS, echo(order)), [order, 'body'])
    t.ok(documents.isRunning)
    await turns(() => !documents.isRunning)
  }
})

const server = await startInThread({ extensions: ['delete-objects'] })
tap.teardown(() => server.stop())

test('over the wire', async (t) => {
  const { raw } = server
  await raw('PUT', '/big-documents')
  const target = '/big-documents/key'
  const upload = uploadTarget(target, await createUpload(server, target))
  // Another spec of this process may have had a long one read.
  bigDocuments.end()
  isError(t, await raw('POST', upload, { body: completion(100) }), 'InvalidPart', 'of 100 parts')
  t.notOk(bigDocuments.isRunning, 'a small one is read at once')
  isError(t, await raw('POST', upload, { body: completion(10_000) }), 'InvalidPart', 'of 10,000 parts')
  t.ok(bigDocuments.isRunning)
  isError(t, await raw('POST', upload, { body: completion(10_001) }), 'MalformedXML', 'of 10,001 parts')
  const body = deletionDocument(Array.from({ length: 1000 }, (_, index) => ({ Key: `key-${index}` })))
  const answer = await raw('POST', '/big-documents?delete', { body, headers: [digestOf(body)] })
  t.equal(answer.text.match(/<Deleted>/g)?.length, 1000)
  const blanks = `<VersioningConfiguration>${' '.repeat(50_000)}<Status>Enabled</Status></VersioningConfiguration>`
  t.equal((await raw('PUT', '/big-documents?versioning', { body: blanks })).status, 200)
  t.match((await raw('GET', '/big-documents?versioning')).text, '<Status>Enabled</Status>')
  bigDocuments.end()
})
