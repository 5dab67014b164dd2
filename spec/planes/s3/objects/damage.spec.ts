/** Proves: DO-CAP-13. */
import { closeSync, openSync, readdirSync, readSync, renameSync, rmSync, truncateSync, writeSync } from 'node:fs'
import tap, { test } from 'tap'
import { volumeNumberOf } from '../../../../engine/brands.ts'
import { PayloadDamagedError } from '../../../../engine/payloads/payload-errors.ts'
import { alteredWithSameChecksum } from '../../../support/journals/forged-checksum.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import type { WireAnswer } from '../../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, paths } = server

const BLOCK_BYTES = 65_536
/** Blocks that are read at once, and so proved before the first byte goes out. */
const FIRST_READ_BYTES = 8 * BLOCK_BYTES

await raw('PUT', '/damage-bucket')

/** Payload files, each with its path. */
function payloadFiles(): string[] {
  return readdirSync(paths.files).flatMap((directory) =>
    readdirSync(`${paths.files}/${directory}`).map((name) => `${paths.files}/${directory}/${name}`),
  )
}

/** Stores a large object and gives the path of its file. */
async function storeLarge(key: string, body: Buffer): Promise<string> {
  const before = new Set(payloadFiles())
  isDone(tap, await raw('PUT', `/damage-bucket/${key}`, { body }), 200, key)
  const [path] = payloadFiles().filter((name) => !before.has(name))
  if (path === undefined) throw new Error('the object has no file')
  return path
}

/** Turns one bit of a byte over; doing it again mends it. */
function flip(path: string, offset: number): void {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, offset)
  byte[0] = (byte[0] ?? 0) ^ 0x10
  writeSync(file, byte, 0, 1, offset)
  closeSync(file)
}

function getRange(key: string, first: number, last: number): Promise<WireAnswer> {
  return raw('GET', `/damage-bucket/${key}`, { headers: [['range', `bytes=${first}-${last}`]] })
}

/** Everything the plane reported since the last call must be damage that was found. */
function damageReports(): number {
  const reports = server.failures.splice(0)
  const others = reports.filter((error) => !(error instanceof PayloadDamagedError))
  if (others.length > 0) throw new AggregateError(others, 'other failures than damage')
  return reports.length
}

test('a damaged byte in a volume is an error, never an answer', async (t) => {
  const body = sampleBytes(5000, 7)
  await raw('PUT', '/damage-bucket/before', { body: 'before' })
  await raw('PUT', '/damage-bucket/small', { body })
  await raw('PUT', '/damage-bucket/after', { body: 'after' })
  const path = paths.volume(volumeNumberOf(0))
  const volume = Buffer.alloc(64 * 1024)
  const file = openSync(path, 'r')
  readSync(file, volume, 0, volume.length, 0)
  closeSync(file)
  const start = volume.indexOf(body)
  const put = (bytes: Buffer) => {
    const written = openSync(path, 'r+')
    writeSync(written, bytes, 0, bytes.length, start)
    closeSync(written)
  }
  put(alteredWithSameChecksum(body))
  isError(t, await raw('GET', '/damage-bucket/small'), 'ObjectDamaged', 'altered together with its CRC-32')
  isError(t, await getRange('small', 100, 200), 'ObjectDamaged', 'and a range of it')
  t.equal(damageReports(), 2)
  put(body)
  for (const at of [0, 2500, 4999]) {
    flip(path, start + at)
    isError(t, await raw('GET', '/damage-bucket/small'), 'ObjectDamaged', `byte ${at}`)
    isError(t, await getRange('small', 0, 0), 'ObjectDamaged', 'also where the range is whole: the block is one')
    t.equal((await raw('HEAD', '/damage-bucket/small')).status, 200, 'HEAD reads no bytes')
    isDone(t, await raw('GET', '/damage-bucket/before'), 200, 'its neighbour')
    isDone(t, await raw('GET', '/damage-bucket/after'), 200, 'its other neighbour')
    t.equal(damageReports(), 2)
    flip(path, start + at)
    t.ok((await raw('GET', '/damage-bucket/small')).body.equals(body), 'mended')
  }
})

test('damage in a payload file is found before the status line, or cuts the answer short', async (t) => {
  const body = sampleBytes(20 * BLOCK_BYTES + 100, 3)
  const path = await storeLarge('large', body)
  for (const at of [0, BLOCK_BYTES + 5, FIRST_READ_BYTES - 1]) {
    flip(path, at)
    isError(t, await raw('GET', '/damage-bucket/large'), 'ObjectDamaged', `byte ${at}`)
    flip(path, at)
  }
  t.equal(damageReports(), 3)
  for (const at of [FIRST_READ_BYTES, 17 * BLOCK_BYTES, body.length - 1]) {
    flip(path, at)
    const answer = await raw('GET', '/damage-bucket/large')
    t.equal(answer.status, 200)
    t.notOk(answer.complete, `byte ${at}: the client sees a short body`)
    t.ok(answer.body.length <= at, 'that ends before the damage')
    t.ok(answer.body.equals(body.subarray(0, answer.body.length)), 'and has no wrong byte')
    flip(path, at)
  }
  t.ok(damageReports() >= 3)
  t.ok((await raw('GET', '/damage-bucket/large')).body.equals(body), 'mended')
})

test('a range proves the blocks that it touches, and no others', async (t) => {
  const body = sampleBytes(6 * BLOCK_BYTES, 4)
  const path = await storeLarge('ranged', body)
  flip(path, 2 * BLOCK_BYTES + 100)
  for (const [first, last] of [
    [0, 2 * BLOCK_BYTES - 1],
    [3 * BLOCK_BYTES, body.length - 1],
    [4 * BLOCK_BYTES, 4 * BLOCK_BYTES],
  ] as const) {
    const answer = await getRange('ranged', first, last)
    isDone(t, answer, 206, `${first}-${last}`)
    t.ok(answer.body.equals(body.subarray(first, last + 1)))
  }
  t.equal(damageReports(), 0)
  const touching = [
    [2 * BLOCK_BYTES, 2 * BLOCK_BYTES],
    [3 * BLOCK_BYTES - 1, 3 * BLOCK_BYTES],
    [2 * BLOCK_BYTES - 1, 2 * BLOCK_BYTES],
  ] as const
  for (const [first, last] of touching) {
    isError(t, await getRange('ranged', first, last), 'ObjectDamaged', `${first}-${last}`)
  }
  t.equal(damageReports(), touching.length)
  const copied = await raw('PUT', '/damage-bucket/copy', { headers: [['x-amz-copy-source', 'damage-bucket/ranged']] })
  isDone(t, copied, 200, 'a copy moves no bytes')
  isError(t, await raw('GET', '/damage-bucket/copy'), 'ObjectDamaged', 'and shares the damage')
  t.equal(damageReports(), 1)
})

test('damage to what guards the bytes', async (t) => {
  const body = sampleBytes(3 * BLOCK_BYTES, 5)
  const path = await storeLarge('guarded', body)
  for (let block = 0; block < 3; block += 1) {
    flip(path, body.length + 4 * block)
    isError(t, await raw('GET', '/damage-bucket/guarded'), 'ObjectDamaged', `checksum of block ${block}`)
    flip(path, body.length + 4 * block)
  }
  t.equal(damageReports(), 3)
})

test('a payload file that is missing, short or long', async (t) => {
  const body = sampleBytes(3 * BLOCK_BYTES, 6)
  const path = await storeLarge('file', body)
  renameSync(path, `${path}.aside`)
  isError(t, await raw('GET', '/damage-bucket/file'), 'ObjectDamaged', 'missing')
  isError(t, await getRange('file', 5, 6), 'ObjectDamaged', 'a range of a missing file')
  isError(
    t,
    await raw('GET', '/damage-bucket/file', { headers: [['range', 'bytes=999999-']] }),
    'InvalidRange',
    'no bytes',
  )
  renameSync(`${path}.aside`, path)
  isDone(t, await raw('GET', '/damage-bucket/file'), 200, 'back again')
  t.equal(damageReports(), 2)
  for (const length of [body.length + 1000, body.length, 10, 0]) {
    truncateSync(path, length)
    isError(t, await raw('GET', '/damage-bucket/file'), 'ObjectDamaged', `a file of ${length} bytes`)
  }
  t.equal(damageReports(), 4)
  rmSync(path)
  isDone(t, await raw('DELETE', '/damage-bucket/file'), 204, 'what is damaged can be deleted')
  isError(t, await raw('GET', '/damage-bucket/file'), 'NoSuchKey', 'gone')
  isDone(t, await raw('PUT', '/damage-bucket/file', { body }), 200, 'and written again')
  t.ok((await raw('GET', '/damage-bucket/file')).body.equals(body))
})

test('damage has a code and a status of its own, which no client repeats, and names the object', async (t) => {
  const body = sampleBytes(20 * BLOCK_BYTES, 9)
  const path = await storeLarge('named', body)
  flip(path, 5)
  const answer = await raw('GET', '/damage-bucket/named')
  t.equal(answer.status, 409)
  t.match(
    answer.text,
    /<Code>ObjectDamaged<\/Code><Message>[^<]*damaged[^<]*from a backup[^<]*<\/Message><Key>named<\/Key>/,
  )
  t.match(server.failures, [{ object: { bucket: 'damage-bucket', key: 'named' } }])
  t.equal(damageReports(), 1)
  flip(path, 5)
  flip(path, 18 * BLOCK_BYTES)
  t.notOk((await raw('GET', '/damage-bucket/named')).complete)
  t.equal(damageReports(), 1)
  flip(path, 18 * BLOCK_BYTES)
  const records = (await server.journal()).filter(({ resource }) => resource === 'bucket:damage-bucket/named')
  t.match(
    records.map(({ result, details }) => [result, details.get('status'), details.get('error')]).slice(-3),
    [
      ['failure', 409, 'object-damaged'],
      ['success', 200, undefined],
      ['failure', 200, 'object-damaged'],
    ],
    'a body that breaks off has a second record',
  )
  t.ok(Number(records.at(-1)?.details.get('sent_bytes')) < body.length)
})

test('every answer was counted, and the server goes on', async (t) => {
  t.equal(damageReports(), 0)
  t.equal(server.gate.active, 0)
  const entries = await server.journal()
  t.ok(entries.filter((entry) => entry.details.get('error') === 'object-damaged').length > 10)
})
