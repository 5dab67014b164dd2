/** Records with two times, of a host whose clock was wrong (decision 0229). */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { Change } from '../../../engine/events/changes.ts'
import { AccessAuthentication } from '../../../engine/access/access-authentication.ts'
import { decodeBatchHeader } from '../../../engine/journal/batch-reader.ts'
import { SEGMENT_HEADER } from '../../../engine/journal/format.ts'
import { hasOwnTime, type RecordTimes } from '../../../engine/journal/record-times.ts'
import { readStoredRecord } from '../../../engine/proof/stored-record.ts'
import { RecordFrames } from '../../../projections/audit/record-frames.ts'
import { createAccount } from '../../support/access-commands.ts'
import { createBucket, write } from '../../support/commands.ts'
import { repairBatch, repairRecord } from '../../support/journals/journal-bytes.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { segmentNames } from '../../support/journal-files.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { MASTER_KEY, openTestStore } from '../../support/test-store.ts'

const HOUR = 3_600_000_000

/** A store that was written while the clock was right, an hour ahead, and right again. */
async function twoTimes(root: string): Promise<StorePaths> {
  let clock = Date.UTC(2026, 7, 1) * 1000
  const store = await openTestStore(root, { segmentBytes: 8 * 1024, clock: () => (clock += 1000) })
  await store.client.execute(createBucket('two-times'))
  clock += HOUR
  await store.client.execute(write('two-times', 'ahead', Buffer.from('a')))
  clock -= HOUR
  await store.client.execute(write('two-times', 'back', Buffer.from('b')))
  await store.client.execute(createAccount('account-back'))
  await store.close(true)
  return store.paths
}

/** A record with two times: where it is in its file, and the batch around it. */
interface Place {
  readonly path: string
  readonly batchAt: number
  readonly batchLength: number
  /** Offset in the batch. */
  readonly at: number
  readonly sequence: number
  readonly stored: Buffer
  readonly isChange: boolean
}

function placesWithTwoTimes(directory: string, names: readonly string[]): Place[] {
  const places: Place[] = []
  for (const name of names) {
    const path = join(directory, name)
    const bytes = readFileSync(path)
    for (let at = SEGMENT_HEADER.bytes; at < bytes.length; ) {
      const header = decodeBatchHeader(bytes.subarray(at))
      if (header === undefined) break
      const frames = new RecordFrames(bytes.subarray(at, at + header.bytes), header)
      while (frames.next()) {
        const { sequence, stored, kind } = frames
        const place = { path, batchAt: at, batchLength: header.bytes, at: frames.at, sequence, stored }
        if (hasOwnTime(frames) && kind > 2) places.push({ ...place, isChange: kind === 3 })
      }
      at += header.bytes
    }
  }
  return places
}

test('a byte of a time of the host is not another without a word', async (t) => {
  const paths = await twoTimes(t.testdir())
  const [place] = placesWithTwoTimes(paths.journal, segmentNames(paths)) as [Place]
  const bytes = readFileSync(place.path)
  const hostAt = place.batchAt + place.at + 88 + 7
  bytes[hostAt] = (bytes[hostAt] as number) ^ 1
  writeFileSync(place.path, bytes)
  const isChanged = async () => {
    const { problems } = await verifyAtRest(paths.journal, { masterKey: MASTER_KEY })
    return problems.some(({ sequence, verdict }) => sequence === place.sequence && verdict === 'content changed')
  }
  t.ok(await isChanged())
  t.match(askStranger(paths.journal), [/damaged batch: batch/])
  repairBatch(bytes, place.batchAt)
  writeFileSync(place.path, bytes)
  t.ok(await isChanged(), 'and with the checksum of the batch put right')
  t.match(askStranger(paths.journal), [new RegExp(`content changed: record ${place.sequence}`)])
})

test('a bundle has the time of the host, and both verifiers of bundles read it', async (t) => {
  const paths = await twoTimes(t.testdir())
  const [place] = placesWithTwoTimes(paths.journal, segmentNames(paths)) as [Place]
  const read = readStoredRecord(place.stored)
  t.match(read, { sequence: BigInt(place.sequence), time: place.stored.readBigInt64BE(56) })
  const script = `
import base64, json, sys
sys.path.insert(0, 'spec/formats')
import verify_proof
value = json.load(sys.stdin)
wrong = dict(value, timestamp=value['order'])
print(verify_proof.is_record(value), verify_proof.is_record(wrong))`
  const { result, principal, operation, hash, previousHash, time } = read as NonNullable<typeof read>
  const timestamp = isoMicroseconds(time)
  const order = isoMicroseconds(place.stored.readBigInt64BE(16))
  const stated = {
    sequence: place.sequence,
    timestamp,
    order,
    result,
    principal,
    operation,
    previous_hash: previousHash,
  }
  const input = JSON.stringify({ ...stated, record_hash: hash, record: place.stored.toString('base64') })
  t.equal(execFileSync('python3', ['-c', script], { input, encoding: 'utf8' }).trim(), 'True False')
  const short = Buffer.from(place.stored.subarray(0, 60))
  short.writeUInt32BE(4, 0)
  t.equal(readStoredRecord(short), undefined, 'a body too short for a time')
  t.end()
})

function isoMicroseconds(time: bigint): string {
  const milliseconds = Number(time / 1000n)
  return new Date(milliseconds).toISOString().replace('Z', `${String(time % 1000n).padStart(3, '0')}Z`)
}

test('the code of a change of access covers the time of the host', (t) => {
  const accessChanges = Buffer.alloc(32, 7)
  const access = new AccessAuthentication({ accessChanges, earlier: [] })
  const entry = {
    sequence: sequenceOf(5),
    orderMicroseconds: microsecondsOf(9_000_000),
    timeMicroseconds: microsecondsOf(1_000_000),
  }
  const macOf = (times: Partial<RecordTimes>) => {
    const body = Buffer.alloc(80, 1)
    return Buffer.from(access.sign(Buffer.alloc(32), { ...entry, ...times, body })).toString('hex')
  }
  const macs = [
    {},
    { timeMicroseconds: microsecondsOf(1_000_001) },
    { timeMicroseconds: microsecondsOf(9_000_000) },
    { orderMicroseconds: microsecondsOf(9_000_001) },
  ]
  t.equal(new Set(macs.map(macOf)).size, 4)
  t.end()
})

test('a time of the host that was changed and hashed anew is found with the master key', async (t) => {
  const paths = await twoTimes(t.testdir())
  const entries = journalEntries(t.testdirName)
  const account = entries.find(({ changes }) => changes.some(isOfAccount))
  const place = placesWithTwoTimes(paths.journal, segmentNames(paths)).find(
    ({ sequence }) => sequence === account?.sequence,
  )
  if (place === undefined) throw new Error('no account was created with two times')
  const bytes = readFileSync(place.path)
  const hostAt = place.batchAt + place.at + 88 + 7
  bytes[hostAt] = (bytes[hostAt] as number) ^ 1
  repairRecord(bytes, place.batchAt + place.at)
  repairBatch(bytes, place.batchAt)
  writeFileSync(place.path, bytes)
  const { problems } = await verifyAtRest(paths.journal, { masterKey: MASTER_KEY })
  t.ok(problems.some((one) => one.sequence === place.sequence && one.verdict === 'access not authenticated'))
})

function isOfAccount(change: Change): boolean {
  return change.name === 'account.created' && change.account === 'account-back'
}
