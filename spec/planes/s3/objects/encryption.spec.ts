/**
 * Encryption at rest over the wire (specification, Encryption at rest; S26: a claim of encryption is checked by looking
 * for a known text in every byte of the data directory).
 * Proves: DO-CAP-12, DO-CAP-15, AUT-S3P-06.
 */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { bucketIdOf, payloadIdOf } from '../../../../engine/brands.ts'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { VolumeCompaction } from '../../../../workers/compact-volumes.ts'
import {
  type InThreadServer,
  startInThread,
  temporaryDirectory,
  type TestServer,
} from '../../../support/test-server.ts'
import { MASTER_KEY } from '../../../support/test-clients.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { firstElement, type WireAnswer } from '../../../support/wire-client.ts'

const MEBIBYTE = 1024 ** 2
const INLINE_MAXIMUM = 65_536
/** Small ones, the border between volumes and files, blocks and pieces with a rest and without. */
const SIZES = [100, 4096, INLINE_MAXIMUM, INLINE_MAXIMUM + 1, 8 * 65_536, MEBIBYTE + 7]

/** Bytes that have a text in every part of them. */
function markedBytes(marker: string, length: number): Buffer {
  const lines: string[] = []
  for (let at = 0; at < length; at += lines.at(-1)?.length ?? 0) lines.push(`${marker} ${lines.length}\n`)
  return Buffer.from(lines.join('')).subarray(0, length)
}

/** Which of some texts or bytes stand in any file of a directory. A file that got another name meanwhile makes it look again. */
function heldOnDisk<T extends string | Buffer>(directory: string, texts: readonly T[]): readonly T[] {
  const held = new Set<T>()
  try {
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const bytes = readFileSync(join(entry.parentPath, entry.name))
      for (const text of texts) if (bytes.includes(text)) held.add(text)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return heldOnDisk(directory, texts)
  }
  return texts.filter((text) => held.has(text))
}

function diskHolds(directory: string, text: string | Buffer): boolean {
  return heldOnDisk(directory, [text]).length > 0
}

async function put(server: TestServer, target: string, body: Buffer | '' = '', headers: HeaderLine[] = []) {
  const answer = await server.raw('PUT', target, { body, headers })
  if (answer.status !== 200) throw new Error(`${target}: ${answer.text}`)
  return answer
}

function getRange(server: TestServer, target: string, first: number, last: number): Promise<WireAnswer> {
  return server.raw('GET', target, { headers: [['range', `bytes=${first}-${last}`]] })
}

/** What the catalog says of the payload of an object. */
function isSealed(server: InThreadServer, bucket: string, key: string): boolean {
  const { catalog } = server.store
  const object = catalog.snapshot().object(bucketIdOf(catalog.snapshot().bucket(bucket)?.id ?? 0), key)
  const location = catalog.snapshot().payload(payloadIdOf(object?.payload ?? 0))
  if (location === undefined || location.kind === 'parts') throw new Error(`${bucket}/${key} has no payload of its own`)
  return location.sealed
}

/** A data directory for several servers, one after the other. */
function sharedDirectory(): string {
  const directory = temporaryDirectory()
  tap.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The object is there as it was written: whole, in ranges, and in its headers. */
async function isReadable(t: Test, server: TestServer, target: string, body: Buffer): Promise<void> {
  const answer = await server.raw('GET', target)
  isDone(t, answer, 200, target)
  t.ok(answer.body.equals(body), `${target}: the bytes`)
  t.equal(answer.headers.etag, `"${hash('md5', body, 'hex')}"`, `${target}: the ETag is that of the object`)
  const head = await server.raw('HEAD', target)
  t.equal(head.headers['content-length'], String(body.length), `${target}: and so is the length`)
  const edges = [0, 1, 15, 4095, 65_535, 65_536, 8 * 65_536 - 1, 8 * 65_536, body.length - 1]
  for (const first of edges.filter((edge) => edge < body.length)) {
    for (const last of [first, first + 1, first + 65_536, body.length + 10]) {
      const part = await getRange(server, target, first, last)
      const wanted = body.subarray(first, last + 1)
      if (part.status !== 206 || !part.body.equals(wanted)) t.fail(`${target}: bytes ${first} to ${last}`)
    }
  }
}

test('without encryption the bytes of an object are on the disk', async (t) => {
  const server = await startInThread()
  const { dataDirectory } = server
  t.teardown(() => server.stop())
  await put(server, '/plain-bucket')
  const markers = SIZES.map((size) => `a plain text of ${size} bytes`)
  for (const [index, size] of SIZES.entries()) {
    await put(server, `/plain-bucket/${size}`, markedBytes(markers[index] ?? '', size))
    t.notOk(isSealed(server, 'plain-bucket', String(size)))
  }
  t.same(heldOnDisk(dataDirectory, markers), markers, 'so that the search of the other tests would find them')
})

test('S26 with encryption no bytes of an object are on the disk', async (t) => {
  const server = await startInThread({ encryptionEnabled: true })
  const { dataDirectory } = server
  t.teardown(() => server.stop())
  await put(server, '/sealed-bucket')
  for (const size of SIZES) {
    const marker = `a hidden text of ${size} bytes`
    const body = markedBytes(marker, size)
    await put(server, `/sealed-bucket/${size}`, body, [['x-amz-meta-note', `note-${size}`]])
    t.ok(isSealed(server, 'sealed-bucket', String(size)))
    await isReadable(t, server, `/sealed-bucket/${size}`, body)
    await put(server, `/sealed-bucket/copy-${size}`, '', [['x-amz-copy-source', `sealed-bucket/${size}`]])
    await put(server, `/sealed-bucket/${size}`, markedBytes('another text', size))
    await isReadable(t, server, `/sealed-bucket/copy-${size}`, body)
    // The bytes of the first are those of the copy; of them and those of what replaces it nothing is there.
    const texts = [marker, 'another text', `note-${size}`]
    t.same(heldOnDisk(dataDirectory, texts), texts.slice(-1), 'metadata is not encrypted, as the page says')
  }
  await put(server, '/sealed-bucket/empty')
  t.equal((await server.raw('GET', '/sealed-bucket/empty')).body.length, 0)
  const listed = await server.raw('GET', '/sealed-bucket?list-type=2&prefix=4096')
  t.equal(firstElement(listed.text, 'Size'), '4096', 'sizes are those of the objects')
  t.same(server.failures, [])
})

/** Sends all but the end of a body, looks, and sends the end. */
async function putAndLook(server: InThreadServer, target: string, body: Buffer, look: () => void): Promise<number> {
  const headers = server.wire.headersOf('PUT', target, { body })
  const lines = [...headers, ['content-length', String(body.length)]].flat() as unknown as Record<string, string>
  const upload = httpRequest({ host: '127.0.0.1', port: server.port, method: 'PUT', path: target, headers: lines })
  const answered = once(upload, 'response')
  upload.write(body.subarray(0, -1))
  const { uploads } = server.paths
  const stored = () => readdirSync(uploads).some((name) => readFileSync(join(uploads, name)).length >= MEBIBYTE)
  while (!stored()) {
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  }
  look()
  upload.end(body.subarray(-1))
  const [response] = await answered
  response.resume()
  return response.statusCode
}

test('the master key is in no file of the data directory', async (t) => {
  const dataDirectory = sharedDirectory()
  const server = await startInThread({ dataDirectory, encryptionEnabled: true })
  await put(server, '/sealed')
  await put(server, '/sealed/known', markedBytes('not-the-key', 100_000))
  await server.stop()
  t.ok(diskHolds(dataDirectory, 'known'), 'the search finds what is there')
  const forms = [MASTER_KEY, MASTER_KEY.toString('hex'), MASTER_KEY.toString('base64')]
  t.same(heldOnDisk(dataDirectory, forms), [])
})

test('S26 nor are they there while an upload is on its way', async (t) => {
  const dataDirectory = sharedDirectory()
  const body = markedBytes('a text on its way', 4 * MEBIBYTE)
  for (const encryptionEnabled of [false, true]) {
    const server = await startInThread({ dataDirectory, encryptionEnabled })
    const bucket = `way-bucket-${encryptionEnabled}`
    await put(server, `/${bucket}`)
    let held: boolean | undefined
    const status = await putAndLook(server, `/${bucket}/large`, body, () => {
      held = diskHolds(server.paths.uploads, 'a text on its way')
    })
    t.equal(status, 200)
    t.equal(held, !encryptionEnabled, `encryption is ${encryptionEnabled ? 'on' : 'off'}`)
    await server.stop()
  }
})

test('S26 the parts of a multipart upload and the object they become', async (t) => {
  const server = await startInThread({ encryptionEnabled: true })
  const { dataDirectory } = server
  t.teardown(() => server.stop())
  await put(server, '/parts-bucket')
  const target = '/parts-bucket/object'
  const created = await server.raw('POST', `${target}?uploads`)
  const uploadId = firstElement(created.text, 'UploadId') ?? ''
  const parts = [5 * MEBIBYTE + 1, 5 * MEBIBYTE, 1000].map((size, index) => markedBytes(`text of part ${index}`, size))
  let document = ''
  for (const [index, body] of parts.entries()) {
    const part = await put(server, `${target}?partNumber=${index + 1}&uploadId=${uploadId}`, body)
    document += `<Part><PartNumber>${index + 1}</PartNumber><ETag>${part.headers.etag}</ETag></Part>`
    t.notOk(diskHolds(dataDirectory, `text of part ${index}`), `part ${index}`)
  }
  const completion = `<CompleteMultipartUpload>${document}</CompleteMultipartUpload>`
  isDone(t, await server.raw('POST', `${target}?uploadId=${uploadId}`, { body: completion }), 200, 'completed')
  const whole = Buffer.concat(parts)
  t.ok((await server.raw('GET', target)).body.equals(whole), 'the object is the parts')
  const border = 5 * MEBIBYTE + 1
  for (const [first, last] of [
    [border - 10, border + 10],
    [border - 1, border],
    [2 * border - 100, whole.length - 1],
    [0, 0],
  ] as const) {
    const part = await getRange(server, target, first, last)
    t.ok(part.body.equals(whole.subarray(first, last + 1)), `bytes ${first} to ${last}`)
  }
  t.notOk(diskHolds(dataDirectory, 'text of part'), 'and nothing of it is on the disk')
  t.same(server.failures, [])
})

test('S26 compaction moves encrypted bytes as they are', async (t) => {
  const server = await startInThread({ encryptionEnabled: true })
  t.teardown(() => server.stop())
  await put(server, '/moved-bucket')
  const bodies = Array.from({ length: 150 }, (_, index) => markedBytes(`moved text ${index}`, 60_000))
  for (const [index, body] of bodies.entries()) await put(server, `/moved-bucket/${index}`, body)
  const kept = [...bodies.entries()].filter(([index]) => index % 10 === 0)
  for (const index of bodies.keys()) {
    if (index % 10 !== 0) isDone(t, await server.raw('DELETE', `/moved-bucket/${index}`), 204, `${index} is deleted`)
  }
  const { client, catalog } = server.store
  t.equal(catalog.snapshot().volumes().length, 2)
  const compaction = new VolumeCompaction(nodeDisk, server.paths, client, catalog)
  while ((await compaction.step()) === 'more');
  await compaction.close()
  t.same(
    catalog
      .snapshot()
      .volumes()
      .map(({ volume }) => volume),
    [1],
    'the first volume is gone',
  )
  for (const [index, body] of kept) {
    t.ok(isSealed(server, 'moved-bucket', String(index)))
    t.ok((await server.raw('GET', `/moved-bucket/${index}`)).body.equals(body), `${index} was moved`)
  }
  t.notOk(diskHolds(server.dataDirectory, 'moved text'))
})

test('encryption is switched on for a store that has objects, and off again', async (t) => {
  const dataDirectory = sharedDirectory()
  const bodies = new Map<string, Buffer>()
  const putAll = async (server: InThreadServer, name: string) => {
    for (const size of SIZES) {
      const key = `${name}-${size}`
      const body = markedBytes(`text ${key}`, size)
      await put(server, `/turns-bucket/${key}`, body)
      bodies.set(key, body)
    }
  }
  const readAll = async (server: InThreadServer, when: string) => {
    for (const [key, body] of bodies) {
      const answer = await server.raw('GET', `/turns-bucket/${key}`)
      if (!answer.body.equals(body)) t.fail(`${when}: ${key}`)
    }
    t.same(server.failures, [], when)
  }
  for (const [turn, encryptionEnabled] of [false, true, false, true].entries()) {
    const server = await startInThread({ dataDirectory, encryptionEnabled })
    if (turn === 0) await put(server, '/turns-bucket')
    await readAll(server, `turn ${turn}, what was there`)
    await putAll(server, `turn-${turn}`)
    await readAll(server, `turn ${turn}, all`)
    const keys = SIZES.map((size) => `turn-${turn}-${size}`)
    for (const key of keys) t.equal(isSealed(server, 'turns-bucket', key), encryptionEnabled, key)
    const texts = keys.map((key) => `text ${key}`)
    t.same(heldOnDisk(dataDirectory, texts), encryptionEnabled ? [] : texts, `turn ${turn}, on the disk`)
    await server.stop()
  }
  rmSync(join(dataDirectory, 'projections'), { recursive: true })
  const server = await startInThread({ dataDirectory })
  await readAll(server, 'without its projections: the journal knows which are encrypted')
  await put(server, '/turns-bucket/turn-0-100', markedBytes('text anew', 100))
  t.notOk(isSealed(server, 'turns-bucket', 'turn-0-100'))
  await server.stop()
  const again = await startInThread({ dataDirectory, encryptionEnabled: true })
  const copied: HeaderLine[] = [['x-amz-copy-source', 'turns-bucket/turn-0-4096']]
  await put(again, '/turns-bucket/copy', '', copied)
  t.notOk(isSealed(again, 'turns-bucket', 'copy'), 'a copy shares the bytes as they are')
  await again.stop()
})

/** Turns one bit of a byte over, in the file that the server has open; doing it again mends it. */
function flip(path: string, offset: number): void {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, offset)
  byte[0] = (byte[0] ?? 0) ^ 0x10
  writeSync(file, byte, 0, 1, offset)
  closeSync(file)
}

test('J17 damage to encrypted bytes is an error, never an answer', async (t) => {
  const server = await startInThread({ encryptionEnabled: true })
  t.teardown(() => server.stop())
  await put(server, '/damage-bucket')
  const body = markedBytes('damaged', 200_000)
  for (const [key, bytes] of Object.entries({ small: body.subarray(0, 5000), large: body })) {
    await put(server, `/damage-bucket/${key}`, bytes)
    const { catalog } = server.store
    const object = catalog.snapshot().object(bucketIdOf(catalog.snapshot().bucket('damage-bucket')?.id ?? 0), key)
    const location = catalog.snapshot().payload(payloadIdOf(object?.payload ?? 0))
    if (location === undefined || location.kind === 'parts') throw new Error('no payload')
    const [path, start] =
      location.kind === 'volume'
        ? [server.paths.volume(location.volume), location.offset]
        : [server.paths.file(location.name), 0]
    for (const at of [start, start + 20, start + location.length - 1]) {
      flip(path, at)
      isError(t, await server.raw('GET', `/damage-bucket/${key}`), 'ObjectDamaged', `${key}: byte ${at}`)
      flip(path, at)
    }
    t.equal(server.failures.splice(0).length, 3)
    t.ok((await server.raw('GET', `/damage-bucket/${key}`)).body.equals(bytes), 'mended')
  }
})
