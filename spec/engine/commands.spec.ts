/**
 * Commands at the edge of the engine: faults, the port, bypasses and their records.
 * Proves: RES-AUD-17, S3-LCK-17, ERR-OTH-05.
 */
import { setImmediate } from 'node:timers/promises'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { test } from 'tap'
import { bucketIdOf, microsecondsOf, millisecondsOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { PortEngineClient } from '../../engine/client/port-client.ts'
import type { ReplyMessage, RequestMessage } from '../../engine/client/port-messages.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import { EngineUnavailableError } from '../../engine/errors.ts'
import { decodeEntry } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import { auditOf, createBucket, deleteObject, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError, noSpaceError } from '../support/disks/fault-disk.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore, readObject, type TestStore } from '../support/test-store.ts'

const audit = {
  principal: 'system:root',
  credentialId: undefined,
  sourceAddress: undefined,
  requestId: 'R1',
  operation: 's3:PUT',
  resource: 'bucket:b',
  metadata: [],
}

test('a fault while one command is decided fails that command and nothing else', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute({ kind: 'create-bucket', audit, bucket: 'b', region: 'r', lockEnabled: false })
  const put = (key: string, header: string) =>
    store.client.execute({
      kind: 'write-object',
      audit: { ...audit, resource: `bucket:b/${key}` },
      bucket: 'b',
      key,
      size: 0,
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
      digest: new Uint8Array(32),
      headers: ['content-type', header],
      metadata: [],
      body: { kind: 'empty' },
      condition: { kind: 'none' },
    })
  // No record has room for it, which no check before the engine should ever let through.
  const results = await Promise.allSettled([put('a', 'text/a'), put('b', 'x'.repeat(40_000)), put('c', 'text/c')])
  t.match(results, [
    { status: 'fulfilled' },
    { status: 'rejected', reason: { name: 'DomainError', code: 'command-failed', subject: /40\d\d\d bytes/ } },
    { status: 'fulfilled' },
  ])
  t.same(store.failures, [])
  const bucket = store.catalog.snapshot().bucket('b')
  t.ok(store.catalog.snapshot().object(bucketIdOf(bucket?.id ?? 0), 'a'))
  t.notOk(store.catalog.snapshot().object(bucketIdOf(bucket?.id ?? 0), 'b'))
  t.ok(store.catalog.snapshot().object(bucketIdOf(bucket?.id ?? 0), 'c'))
  await store.close(true)

  const outcomes: string[] = []
  readJournal(store.disk, store.paths, undefined, {
    record: ({ kind, body }) => {
      if (kind !== RECORD_KIND.change && kind !== RECORD_KIND.audit) return
      const entry = decodeEntry(body)
      if (entry.resource === 'bucket:b/b') outcomes.push(`${entry.result} ${entry.metadata.join(' ')}`.trim())
    },
    batch: () => undefined,
  })
  t.same(outcomes, ['attempted', 'failure error command-failed'])
})

test('a number that no reader of the journal would take fails its command, and is not written', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root)
  await store.client.execute(createBucket('b'))
  const asked = { ...write('b', 'k', Buffer.alloc(0)), size: -1 }
  await t.rejects(store.client.execute(asked), { code: 'command-failed', subject: /-1/ })
  await store.client.execute(write('b', 'k', Buffer.from('bytes')))
  t.same(store.failures, [])
  await store.close(true)
  const own = journalEntries(root).filter(({ resource }) => resource === asked.audit.resource)
  t.same(
    own.map(({ result }) => result),
    ['attempted', 'failure', 'attempted', 'success'],
  )
})

/** Far more than may be on its way. */
const FLOOD = 100_000

/** An engine thread that answers when the spec says so. */
function clientOf(teardown: (end: () => void) => void) {
  const { port1, port2 } = new MessageChannel()
  teardown(() => port1.close())
  const requests: RequestMessage[] = []
  port2.on('message', (message: RequestMessage) => requests.push(message))
  const reply = (message: ReplyMessage) => port2.postMessage(message)
  return { client: new PortEngineClient(port1 satisfies MessagePort), requests, reply }
}

/** How many a caller hands over that waits as soon as it is told to. */
function takenOf(hand: () => Promise<void> | undefined): [taken: number, wait: Promise<void> | undefined] {
  for (let count = 1; count <= FLOOD; count += 1) {
    const wait = hand()
    if (wait !== undefined) return [count, wait]
  }
  return [FLOOD, undefined]
}

async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate()
}

test('S25 J20 refused changes are bounded on their way to the journal', async (t) => {
  const { client, requests, reply } = clientOf((end) => t.teardown(end))
  const [taken, wait] = takenOf(() => client.recordFailedChange(auditOf('s3:PUT', 'denied'), 'denied', []))
  t.equal(taken, 4097)
  let over = false
  void wait?.then(() => (over = true))
  await turns()
  t.equal(over, false, 'it waits for the engine')
  const commands = requests.flatMap((message) => message.commands)
  t.equal(commands.length, taken, 'and all that was taken is with the engine')
  reply({
    kind: 'replies',
    auditBytes: 0,
    replies: commands.map(([id]) => [
      id,
      { ok: true, done: { sequence: sequenceOf(id), timeMicroseconds: microsecondsOf(1) } },
    ]),
  })
  await wait
})

test('S25 records of reads are bounded on their way to the journal', async (t) => {
  const { client, requests, reply } = clientOf((end) => t.teardown(end))
  const [, wait] = takenOf(() => client.record(auditOf('s3:GET', 'k'), 'success'))
  await turns()
  const bytes = requests.reduce((total, { audits }) => total + (audits?.length ?? 0), 0)
  t.ok(bytes >= 4 << 20 && bytes < (4 << 20) + 1024, `${bytes} bytes`)
  reply({ kind: 'replies', auditBytes: bytes, replies: [] })
  await wait
})

test('J7 when the engine is gone nobody waits for ever, and nothing more is taken', async (t) => {
  const { client, reply } = clientOf((end) => t.teardown(end))
  const [, refused] = takenOf(() => client.recordFailedChange(auditOf('s3:PUT', 'denied'), 'denied', []))
  const [, read] = takenOf(() => client.record(auditOf('s3:GET', 'k'), 'success'))
  const change = client.execute(createBucket('photos'))
  const failed = t.rejects(change, EngineUnavailableError)
  t.ok(read, 'a read waits for room for its record')
  const waiting = t.rejects(Promise.resolve(read), EngineUnavailableError)
  reply({ kind: 'failed', reason: 'the disk is broken', outcome: 'unchanged' })
  await Promise.all([refused, waiting, failed])
  await t.rejects(client.execute(createBucket('photos')), { message: /the disk is broken/ })
  t.throws(() => client.record(auditOf('s3:GET', 'k'), 'success'), EngineUnavailableError)
  t.throws(() => client.recordFailedChange(auditOf('s3:PUT', 'denied'), 'denied', []), EngineUnavailableError)
})

const SEGMENT = /\/journal\/\d+\.segment$/
const BYTES = Buffer.from('bytes under governance')
const UNTIL = Date.now() + 24 * 60 * 60 * 1000
const LOCK = { retention: { mode: 'GOVERNANCE', untilMilliseconds: millisecondsOf(UNTIL) }, hold: undefined } as const

function current(store: TestStore): ObjectState | undefined {
  const bucket = store.catalog.snapshot().bucket('locked')
  return bucket && store.catalog.snapshot().object(bucket.id, 'k')
}

/** Both ways to bypass governance. */
function bypasses(version: Sequence): readonly (CommandOf<'delete-object'> | CommandOf<'set-retention'>)[] {
  const common = { bucket: 'locked', key: 'k', version, bypassGovernance: true } as const
  const { audit: of, condition } = deleteObject('locked', 'k')
  return [
    { kind: 'delete-object', audit: of, condition, ...common },
    { kind: 'set-retention', audit: of, retention: undefined, ...common },
  ]
}

test('a bypass whose records do not reach the disk is refused, and nobody sees it done', async (t) => {
  for (const error of [inputOutputError(), noSpaceError()]) {
    for (const operation of ['write', 'sync'] as const) {
      for (const index of [0, 1]) {
        const directory = t.testdir()
        const disk = new FaultDisk()
        const store = await openTestStore(directory, {}, disk)
        await store.client.execute({ ...createBucket('locked'), lockEnabled: true })
        const { sequence } = await store.client.execute({ ...write('locked', 'k', BYTES), lock: LOCK })
        disk.fault = ({ name, path }) =>
          name === operation && SEGMENT.test(path) ? { kind: 'error', error } : undefined
        const [command] = bypasses(sequence).slice(index)
        const name = `${command?.kind}, ${operation} fails with ${error.message}`
        if (command === undefined) throw new Error(name)
        await t.rejects(store.client.execute(command), { name: 'EngineUnavailableError' }, name)
        t.equal(current(store)?.sequence, sequence, `${name}: nobody sees it gone`)
        disk.fault = () => undefined
        await store.kill()

        const again = await openTestStore(directory)
        const success = journalEntries(directory).filter(
          ({ operation: named, result }) => named.includes('object-lock.bypass') && result === 'success',
        )
        // A batch whose sync failed may have reached the disk: then all of it did, the records included.
        if (operation === 'sync' && success.length > 0) {
          t.notMatch(current(again), { lock: LOCK }, `${name}: done, and on record`)
        } else {
          t.same(success, [], 'no record claims what did not happen')
          t.match(current(again), { sequence, lock: LOCK }, `${name}: after a restart`)
          t.same(await readObject(again, 'locked', 'k'), BYTES)
        }
        await again.close(true)
      }
    }
  }
})

test('the records of a bypass and the change are of one batch: the attempts stand first', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute({ ...createBucket('locked'), lockEnabled: true })
  const { sequence } = await store.client.execute({ ...write('locked', 'k', BYTES), lock: LOCK })
  const [remove] = bypasses(sequence)
  if (remove === undefined) throw new Error('no command')
  await store.client.execute(remove)
  const records = journalEntries(store.paths.root).slice(-4)
  t.same(
    records.map(({ operation, result, changes }) => [operation, result, changes.length]),
    [
      ['s3:DELETE', 'attempted', 0],
      ['s3:object-lock.bypass', 'attempted', 0],
      ['s3:DELETE', 'success', 1],
      ['s3:object-lock.bypass', 'success', 0],
    ],
  )
  const versions = records.map(({ details }) => details.get('version_id'))
  t.match(versions[0], /./)
  t.equal(new Set(versions).size, 1, 'all name the version')
  await store.close(true)
})
