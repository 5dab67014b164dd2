/** Small writes on their way to the engine thread, and their replies. */
import { MessageChannel } from 'node:worker_threads'
import { test } from 'tap'
import { millisecondsOf, sequenceOf, uploadIdOf } from '../../engine/brands.ts'
import { isSmallWrite, unpackWrites, WritePacker } from '../../engine/client/packed-writes.ts'
import { PortEngineClient } from '../../engine/client/port-client.ts'
import type { RequestMessage } from '../../engine/client/port-messages.ts'
import { PortServer } from '../../engine/client/port-server.ts'
import type { Command, CommandOf } from '../../engine/commands/commands.ts'
import { auditOf, createBucket, write } from '../support/commands.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore, readObject } from '../support/test-store.ts'

type Write = CommandOf<'write-object'>

const plain = write('photos', 'a', Buffer.from('bytes'))

const WRITES: readonly Write[] = [
  plain,
  { ...plain, key: 'ключ/\u0000/😀', headers: ['content-type', 'text/plain'], metadata: ['name', 'wért'] },
  { ...plain, condition: { kind: 'absent' } },
  { ...plain, condition: { kind: 'matches', etags: ['a', 'b'] } },
  {
    ...plain,
    lock: { retention: { mode: 'COMPLIANCE', untilMilliseconds: millisecondsOf(8.64e15) }, hold: undefined },
  },
  {
    ...plain,
    lock: { retention: undefined, hold: true },
    checksum: { algorithm: 'sha1', value: Buffer.alloc(20, 7), composite: false },
  },
  { ...plain, intent: sequenceOf(2 ** 52) },
  { ...plain, tags: ['team', 'a b', 'ключ', ''] },
  { ...plain, lock: { retention: undefined, hold: true }, tags: [] },
  { ...plain, audit: { ...plain.audit, credentialId: undefined, sourceAddress: undefined, metadata: ['status', 200] } },
  { ...plain, body: { kind: 'inline', bytes: Buffer.alloc(65_536, 3), checksum: 2 ** 32 - 1, sealed: true } },
]

function roundTrip(writes: readonly Write[]): [id: number, command: Command][] {
  const packer = new WritePacker()
  writes.forEach((command, index) => isSmallWrite(command) && packer.add(index + 1, command))
  const found: [number, Command][] = []
  const packed = packer.take()
  if (packed !== undefined) unpackWrites(packed, (id, command) => found.push([id, command]))
  return found
}

test('small writes arrive as they were sent, in their order', (t) => {
  t.same(
    roundTrip(WRITES),
    WRITES.map((command, index) => [index + 1, command]),
  )
  const [[, first] = []] = roundTrip([plain])
  t.strictSame(Object.keys(first ?? {}).toSorted(), Object.keys(plain).toSorted(), 'and nothing is added')
  t.end()
})

test('a packer is empty after its message, and takes more than it had room for', (t) => {
  const packer = new WritePacker()
  t.equal(packer.take(), undefined)
  const long = { ...plain, metadata: ['name', 'x'.repeat(2000)] }
  if (!isSmallWrite(long)) throw new Error('not a small write')
  for (let id = 0; id < 50; id += 1) packer.add(id, long)
  const ids: number[] = []
  unpackWrites(packer.take() ?? Buffer.alloc(0), (id, command) => {
    ids.push(id)
    t.same(command, long)
  })
  t.same(
    ids,
    Array.from({ length: 50 }, (_, id) => id),
  )
  t.equal(packer.take(), undefined)
  t.end()
})

test('writes of one turn are carried out over a port, and each is told what became of it', async (t) => {
  const store = await openTestStore(t.testdir())
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const client = new PortEngineClient(port1)
  const server = new PortServer(port2, store.loop)
  const timer = setInterval(() => server.flush(), 1)
  t.teardown(() => clearInterval(timer))
  for (const name of ['photos', 'versions']) await client.execute(createBucket(name))
  await client.execute({ kind: 'set-versioning', bucket: 'versions', versioning: 'enabled', audit: plain.audit })
  const kept = write('photos', 'kept', Buffer.from('kept'))
  const results = await Promise.allSettled([
    client.execute(kept),
    client.execute(write('none', 'a', Buffer.from('lost'))),
    client.execute(write('versions', 'a', Buffer.from('first'))),
    client.execute({ ...kept, condition: { kind: 'absent' } }),
  ])
  t.match(results, [
    { status: 'fulfilled', value: { sequence: Number, timeMicroseconds: Number, etag: kept.etag, version: undefined } },
    { status: 'rejected', reason: { code: 'bucket-not-found' } },
    { status: 'fulfilled', value: { version: Number } },
    { status: 'rejected', reason: { code: 'precondition-failed' } },
  ])
  t.same(await readObject(store, 'photos', 'kept'), Buffer.from('kept'))
  await store.close(true)
})

test('the record of a read that was answered before a write was sent is before it in the journal', async (t) => {
  const store = await openTestStore(t.testdir())
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const client = new PortEngineClient(port1)
  const server = new PortServer(port2, store.loop)
  const timer = setInterval(() => server.flush(), 1)
  t.teardown(() => clearInterval(timer))
  await client.execute(createBucket('photos'))
  void client.record(auditOf('s3:GET', 'bucket:photos/read'), 'success')
  await client.execute(plain)
  await client.execute(write('photos', 'b', Buffer.from('bytes')))
  await store.close(true)
  const told = journalEntries(store.paths.root).flatMap(({ operation, result }) =>
    operation.startsWith('s3:') ? `${operation} ${result}` : [],
  )
  const put = ['s3:PUT attempted', 's3:PUT success']
  t.same(told, [...put, 's3:GET success', ...put, ...put])
})

test('a command that is sent as an object takes no memory along that it shares with others', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const client = new PortEngineClient(port1)
  const pool = Buffer.alloc(65_536, 1)
  const bytes = pool.subarray(100, 105)
  const digest = pool.subarray(200, 232)
  const received = new Promise<RequestMessage>((resolve) => port2.once('message', resolve))
  const body = { kind: 'inline', bytes, checksum: 0, sealed: false } as const
  const part = { part: 1, upload: uploadIdOf(1), size: 5, etag: plain.etag, digest, body }
  void client.execute({ kind: 'write-part', bucket: 'b', key: 'k', audit: plain.audit, ...part })
  const [, sent] = (await received).commands[0] ?? []
  if (sent?.kind !== 'write-part' || sent.body.kind !== 'inline') throw new Error('not the part')
  t.same([sent.digest.buffer.byteLength, sent.body.bytes.buffer.byteLength], [32, 5])
  t.same(Buffer.from(sent.body.bytes), Buffer.alloc(5, 1))
  t.equal(pool.length, 65_536, 'and what others use stays with them')
})
