/** Bodies of forms as they come and as they do not: in pieces, slowly, cut short, too long; and what is there after a restart. */
import { hash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { S3Error } from '../../../../planes/s3/errors/s3-errors.ts'
import { encodedForm, type Field, FORM_END, FORM_HEAD, partOf, signedFields } from '../../../support/post-forms.ts'
import { openRaw } from '../../../support/raw/raw-client.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { type InThreadServer, startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const BUCKET = 'bodies'
const MEBIBYTE = 1024 ** 2

async function started(options: Parameters<typeof startInThread>[0] = {}): Promise<InThreadServer> {
  const server = await startInThread({ extensions: ['post-object'], ...options })
  await server.raw('PUT', `/${BUCKET}`)
  return server
}

const server = await started()
tap.teardown(() => server.stop())

function fieldsOf(key: string, more: readonly Field[] = []): Field[] {
  return signedFields({ bucket: BUCKET, fields: [['key', key], ...more] })
}

function post(to: InThreadServer, body: Buffer, headers = FORM_HEAD) {
  return to.raw('POST', `/${BUCKET}`, { sign: false, headers, body })
}

/** Names of files of uploads that have not come to their end. */
function unfinished({ dataDirectory }: InThreadServer): string[] {
  return readdirSync(join(dataDirectory, 'payloads', 'tmp'))
}

test('files of many lengths arrive as they are, each by the way of its length', async (t) => {
  for (const length of [0, 1, 65_400, 65_536, 70_000, 1_000_000, 9 * MEBIBYTE]) {
    const file = sampleBytes(length)
    isDone(t, await post(server, encodedForm(fieldsOf('lengths'), file)), 204, `${length} bytes`)
    const got = await server.raw('GET', `/${BUCKET}/lengths`)
    t.ok(got.body.equals(file), `${length} bytes are the same`)
  }
  t.same(unfinished(server), [])
})

test('where nothing goes into volumes, a file without bytes is empty all the same', async (t) => {
  const other = await started({ inlineBytesMaximum: 0 })
  t.teardown(() => other.stop())
  for (const file of [Buffer.alloc(0), Buffer.from('x')]) {
    const after: Field[] = [['later', 'y'.repeat(5000)]]
    isDone(t, await post(other, encodedForm(fieldsOf('short'), file, { after })), 204, `${file.length} bytes`)
    const got = await other.raw('GET', `/${BUCKET}/short`)
    t.ok(got.body.equals(file))
    t.equal(got.headers['etag'], `"${hash('md5', file)}"`)
  }
  t.same(unfinished(other), [])
})

test('a form that comes slowly, a byte at a time up to its file, is taken', async (t) => {
  const body = encodedForm(fieldsOf('slow'), 'the file')
  const raw = openRaw(server.port)
  const head = server.wire.headText('POST', `/${BUCKET}`, {
    sign: false,
    headers: [...FORM_HEAD, ['content-length', String(body.length)]],
  })
  await raw.push(Buffer.from(head, 'latin1'))
  for (const byte of body) await raw.push(Buffer.of(byte))
  t.match(await raw.until(/\r\n\r\n/), /^HTTP\/1\.1 204 /)
  raw.socket.destroy()
  t.equal((await server.raw('GET', `/${BUCKET}/slow`)).text, 'the file')
  t.equal(server.gate.active, 0, 'and holds no place')
})

test('a client that leaves in the middle writes nothing, in the fields or in the file', async (t) => {
  const file = sampleBytes(2 * MEBIBYTE)
  const body = encodedForm(fieldsOf('left'), file)
  for (const at of [10, 400, body.indexOf('name="file"') + 100, MEBIBYTE, body.length - 3]) {
    const finished = server.finished.length
    const raw = openRaw(server.port)
    const headers: Field[] = [...FORM_HEAD, ['content-length', String(body.length)]]
    await raw.push(Buffer.from(server.wire.headText('POST', `/${BUCKET}`, { sign: false, headers }), 'latin1'))
    await raw.push(body.subarray(0, at))
    raw.socket.destroy()
    while (server.finished.length === finished) await new Promise((resolve) => setImmediate(resolve))
    t.equal(server.finished.at(-1)?.code, 'incomplete-body', `after ${at} bytes`)
  }
  isError(t, await server.raw('GET', `/${BUCKET}/left`), 'NoSuchKey', 'nothing')
  t.same(unfinished(server), [])
  t.equal(server.gate.active, 0)
})

test('a body that ends before its last boundary writes nothing', async (t) => {
  const file = sampleBytes(200_000)
  const fields = fieldsOf('cut')
  const cut = [
    encodedForm(fields, file).subarray(0, -FORM_END.length),
    encodedForm(fields, 'x').subarray(0, -FORM_END.length),
    encodedForm(fields, 'x').subarray(0, 300),
    Buffer.concat([
      ...fields.map(([name, value]) => partOf(name, value)),
      partOf('file', 'x'),
      Buffer.from('--other--'),
    ]),
  ]
  for (const body of cut) isError(t, await post(server, body), 'MalformedPOSTRequest', `${body.length} bytes`)
  isError(t, await server.raw('GET', `/${BUCKET}/cut`), 'NoSuchKey', 'nothing')
  t.same(unfinished(server), [])
})

test('bounds of a form', async (t) => {
  const long = fieldsOf('long', [['x-ignore-pad', 'x'.repeat(21_000)]])
  isError(t, await post(server, encodedForm(long, 'x')), 'MaxPostPreDataLengthExceededError', 'fields')
  const many = Array.from({ length: 100 }, (_, at): Field => [`x-ignore-${at}`, ''])
  isError(t, await post(server, encodedForm(fieldsOf('many', many), 'x')), 'MalformedPOSTRequest', '100 fields more')
  const boundary: Field[] = [['content-type', `multipart/form-data; boundary=${'b'.repeat(71)}`]]
  isError(t, await post(server, encodedForm(fieldsOf('b'), 'x'), boundary), 'MalformedPOSTRequest', 'a long boundary')
  const noFile = Buffer.concat([...fieldsOf('none').map(([name, value]) => partOf(name, value)), FORM_END])
  isError(t, await post(server, noFile), 'IncorrectNumberOfFilesInPostRequest', 'no file')
  const two = encodedForm(fieldsOf('two'), 'x', { after: [['file', 'y']] })
  isError(t, await post(server, two), 'IncorrectNumberOfFilesInPostRequest', 'two files')
  const chunked = await server.raw('POST', `/${BUCKET}`, {
    sign: false,
    headers: [...FORM_HEAD, ['transfer-encoding', 'chunked']],
    body: encodedForm(fieldsOf('chunked'), 'x'),
  })
  isError(t, chunked, 'MissingContentLength', 'no length')
  t.notMatch((await server.raw('GET', `/${BUCKET}?list-type=2`)).text, /<Key>(long|many|b|none|two|chunked)</)
})

test('a file over 5 GiB is refused by the length of the form, before it is sent', async (t) => {
  const raw = openRaw(server.port)
  const headers: Field[] = [...FORM_HEAD, ['content-length', String(5 * 1024 ** 3 + 30_000)]]
  await raw.push(Buffer.from(server.wire.headText('POST', `/${BUCKET}`, { sign: false, headers }), 'latin1'))
  await raw.push(encodedForm(fieldsOf('huge'), 'the beginning').subarray(0, -FORM_END.length))
  t.match(await raw.until(/<\/Error>/), /<Code>EntityTooLarge<\/Code>/)
  raw.socket.destroy()
})

test('while every place is taken a form waits for one after its fields, and is refused in its turn', async (t) => {
  const limits = { operationsMaximum: 1, queueMaximum: 0 }
  const other = await started({ limits })
  t.teardown(() => other.stop())
  const entry = other.gate.entryOf('another account', true)
  t.equal(other.gate.enter(entry), 'entered')
  isError(t, await post(other, encodedForm(fieldsOf('busy'), sampleBytes(300_000))), 'SlowDown', 'no place')
  other.gate.leave(entry)
  isDone(t, await post(other, encodedForm(fieldsOf('busy'), 'x')), 204, 'a place')
})

test('what a form has written is there after a restart, and after a replay without projections', async (t) => {
  const dataDirectory = temporaryDirectory()
  t.teardown(() => rmSync(dataDirectory, { recursive: true }))
  const file = sampleBytes(100_000)
  const first = await started({ dataDirectory })
  const more: Field[] = [
    ['Content-Type', 'image/png'],
    ['x-amz-meta-a', 'b'],
    ['x-amz-checksum-sha256', hash('sha256', file, 'base64')],
  ]
  isDone(t, await post(first, encodedForm(fieldsOf('kept', more), file)), 204, 'written')
  await first.stop()
  for (const projections of ['kept', 'gone'] as const) {
    if (projections === 'gone') rmSync(first.paths.projections, { recursive: true })
    const again = await startInThread({ dataDirectory })
    const headers: Field[] = [['x-amz-checksum-mode', 'ENABLED']]
    const got = await again.raw('GET', `/${BUCKET}/kept`, { headers })
    t.ok(got.body.equals(file), `projections ${projections}`)
    t.match(got.headers, {
      'content-type': 'image/png',
      'x-amz-meta-a': 'b',
      'x-amz-checksum-sha256': hash('sha256', file, 'base64'),
    })
    await again.stop()
  }
})

test('nothing of this was a fault of the server', (t) => {
  t.same(
    server.failures.filter((failure) => !(failure instanceof S3Error)),
    [],
  )
  t.end()
})
