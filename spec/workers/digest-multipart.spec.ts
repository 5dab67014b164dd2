/** Digests of multipart objects: whose object is hashed, and that each gets the digest of its bytes. */
import { hash } from 'node:crypto'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import tap, { test } from 'tap'
import { bucketIdOf, payloadIdOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { complete, createUpload, largePart, sendPart, uploadWhole } from '../support/multipart.ts'
import { copyOf, partOf } from '../support/part-copies.ts'
import { startInThread, temporaryDirectory } from '../support/test-server.ts'
import { put, remove } from '../support/wire-versions.ts'
import { MultipartDigest } from '../../workers/digest-multipart.ts'

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true }))
const server = await startInThread({ dataDirectory, extensions: ['upload-part-copy'] })
const { client, catalog } = server.store
const worker = new MultipartDigest(client, catalog, server.services.payloads)
for (const bucket of ['greedy', 'modest']) await server.raw('PUT', `/${bucket}`)

const PIECE = largePart(1)
const LARGE = Array.from({ length: 5 }, (_, index) => largePart(index))
const SMALL = [Buffer.from('a small object of one part')]

/** SHA-256 of an object as the catalog has it, in hexadecimal; undefined while it is not known. */
function digestOf(bucket: string, key: string): string | undefined {
  const snapshot = catalog.snapshot()
  const id = snapshot.bucket(bucket)?.id
  const object = id && snapshot.object(id, key)
  const location = object?.payload && snapshot.payload(object.payload)
  if (location === undefined || location.kind !== 'parts' || location.digest === undefined) return undefined
  return Buffer.from(location.digest).toString('hex')
}

function sha256(pieces: readonly Buffer[]): string {
  return hash('sha256', Buffer.concat(pieces), 'hex')
}

/** Works until nothing is left to do. @returns how many steps that took */
async function settle(): Promise<number> {
  for (let steps = 1; ; steps += 1) if ((await worker.step()) === 'idle') return steps
}

test('an object waits for a step of a large one of another bucket, not for its end', async (t) => {
  await uploadWhole(server, '/greedy/large', LARGE)
  await worker.step()
  await uploadWhole(server, '/modest/small', SMALL)
  for (let steps = 0; steps < 2; steps += 1) await worker.step()
  t.equal(digestOf('modest', 'small'), sha256(SMALL))
  t.equal(digestOf('greedy', 'large'), undefined, 'which is not done yet')
  await settle()
  t.equal(digestOf('greedy', 'large'), sha256(LARGE), 'and goes on where it stopped')
})

test('nor does it wait for parts that are hashed ahead', async (t) => {
  const upload = await createUpload(server, '/greedy/ahead')
  const parts = [await sendPart(server, '/greedy/ahead', upload, 1, Buffer.concat(LARGE))]
  await worker.step()
  await uploadWhole(server, '/modest/second', SMALL)
  for (let steps = 0; steps < 2; steps += 1) await worker.step()
  t.equal(digestOf('modest', 'second'), sha256(SMALL))
  parts.push(await sendPart(server, '/greedy/ahead', upload, 2, 'the end'))
  await worker.step()
  await complete(server, '/greedy/ahead', upload, parts)
  await settle()
  t.equal(digestOf('greedy', 'ahead'), sha256([...LARGE, Buffer.from('the end')]))
})

test('a part that is sent again while it is hashed ahead is hashed anew', async (t) => {
  const upload = await createUpload(server, '/greedy/again')
  await sendPart(server, '/greedy/again', upload, 1, Buffer.concat(LARGE))
  await worker.step()
  const again = Buffer.concat(LARGE.toReversed())
  const part = await sendPart(server, '/greedy/again', upload, 1, again)
  await complete(server, '/greedy/again', upload, [part])
  await settle()
  t.equal(digestOf('greedy', 'again'), sha256([again]))
})

test('an object that repeats a payload many times delays no other bucket', async (t) => {
  await put(server, 'greedy/piece', PIECE)
  const upload = await createUpload(server, '/greedy/repeated')
  const parts = []
  for (let number = 1; number <= 8; number += 1) {
    parts.push(partOf(number, (await copyOf(server, '/greedy/repeated', upload, number, 'greedy/piece')).text))
  }
  await complete(server, '/greedy/repeated', upload, parts)
  await uploadWhole(server, '/modest/third', SMALL)
  for (let steps = 0; steps < 2; steps += 1) await worker.step()
  t.equal(digestOf('modest', 'third'), sha256(SMALL))
  t.equal(digestOf('greedy', 'repeated'), undefined)
  await settle()
  t.equal(digestOf('greedy', 'repeated'), sha256(Array.from({ length: 8 }, () => PIECE)))
})

test('an object that is deleted while it is hashed is forgotten, and what is left goes on', async (t) => {
  await uploadWhole(server, '/greedy/mortal', LARGE)
  await worker.step()
  await remove(server, 'greedy/mortal')
  await uploadWhole(server, '/modest/fourth', LARGE)
  await settle()
  t.equal(digestOf('modest', 'fourth'), sha256(LARGE))
  t.same(catalog.snapshot().digestsPending(10), [])
})

test('a part that is damaged is named by its object', async (t) => {
  await uploadWhole(server, '/modest/broken', LARGE)
  const snapshot = catalog.snapshot()
  const object = snapshot.object(snapshot.bucket('modest')?.id ?? bucketIdOf(0), 'broken')
  const whole = object?.payload && snapshot.payload(object.payload)
  const part = whole?.kind === 'parts' ? snapshot.payload(whole.parts.payload(0) ?? payloadIdOf(0)) : undefined
  if (part?.kind !== 'file') throw new Error('the part is in no file')
  const path = server.paths.file(part.name)
  const bytes = readFileSync(path)
  bytes[1000] = (bytes[1000] ?? 0) ^ 1
  chmodSync(path, 0o600)
  writeFileSync(path, bytes)
  await t.rejects(settle(), { name: 'PayloadDamagedError', message: / \(modest\/broken\)$/ })
  await settle()
  await remove(server, 'modest/broken')
})

test('a copy of an object whose digest is not known gets it with the object', async (t) => {
  await uploadWhole(server, '/greedy/source', SMALL)
  await server.raw('PUT', '/modest/copy', { headers: [['x-amz-copy-source', 'greedy/source']] })
  t.equal(await settle(), 2)
  t.same([digestOf('greedy', 'source'), digestOf('modest', 'copy')], [sha256(SMALL), sha256(SMALL)])
})

test('what waits is in the journal, and the same after a restart without projections', async (t) => {
  await uploadWhole(server, '/greedy/waits', SMALL)
  const pending = catalog.snapshot().digestsPending(10)
  t.equal(pending.length, 1)
  await server.stop()
  t.match(await checkProjections(nodeDisk, server.paths), { differenceCount: 0 })
  rmSync(server.paths.projections, { recursive: true })
  const again = await startInThread({ dataDirectory })
  t.teardown(() => again.stop())
  const queued = again.store.catalog.snapshot().firstQueuedDigest(0, 0, () => false)
  t.equal(queued?.payload, payloadIdOf(Number(pending[0])))
  t.same(server.failures, [])
})
