import { lastBefore } from '../../../engine/journal/positions.ts'
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { test } from 'tap'
import { bucketIdOf, volumeNumberOf } from '../../../engine/brands.ts'
import { type VerificationReport, verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { readJournal } from '../../../engine/journal/read-journal.ts'
import { encodeVolumeHeader } from '../../../engine/payloads/volume-format.ts'
import { copyGolden, GOLDEN_DEPLOYMENT, GOLDEN_JOURNALS, openGolden } from '../../support/journals/golden-journals.ts'
import { dataLength, editFile, flipByte, journalListing, segmentPath } from '../../support/journal-files.ts'
import { CHANGED, DAMAGED, LOST, MISSING } from '../../support/journals/journal-damage.ts'
import { OTHER_BOOT_ID, type TestStore } from '../../support/test-store.ts'

const [GOLDEN] = GOLDEN_JOURNALS

/** An object as it must be in the end. Digest in hexadecimal. */
interface ExpectedObject {
  readonly bucket: string
  readonly key: string
  readonly sequence: number
  readonly size: number
  readonly etag: string
  readonly digest: string
  readonly headers: readonly string[]
  readonly metadata: readonly string[]
  readonly payload:
    | { readonly kind: 'none' }
    | { readonly kind: 'volume' | 'file'; readonly id: number; readonly references: number }
}

const expected = JSON.parse(readFileSync(join(GOLDEN, 'expected.json'), 'utf8')) as {
  readonly head: { readonly sequence: number; readonly batch: number; readonly hash: string }
  readonly buckets: readonly { readonly name: string; readonly id: number; readonly region: string }[]
  readonly objects: readonly ExpectedObject[]
}
const SEGMENTS = readdirSync(join(GOLDEN, 'journal')).filter((name) => name.endsWith('.segment'))
const name = (index: number): string => SEGMENTS.at(index) as string

/** A copy of the golden store, with a volume that holds nothing. */
function copyStore(root: string): StorePaths {
  const paths = copyGolden(root, GOLDEN)
  writeFileSync(paths.volume(volumeNumberOf(0)), encodeVolumeHeader(volumeNumberOf(0)))
  return paths
}

function verifyAtRest(paths: StorePaths): Promise<VerificationReport> {
  return verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
}

/** What the catalog says of an object, in the form of expected.json. */
function describe(store: TestStore, { bucket, key }: ExpectedObject): unknown {
  const object = store.catalog.snapshot().object(bucketIdOf(store.catalog.snapshot().bucket(bucket)?.id ?? -1), key)
  if (object === undefined) return undefined
  const { sequence, size, etag, headers, metadata } = object
  const location = object.payload && store.catalog.snapshot().payload(object.payload)
  const payload =
    location === undefined
      ? { kind: 'none' }
      : location.kind === 'file'
        ? { kind: 'file', id: object.payload, name: location.name }
        : {
            kind: location.kind,
            id: object.payload,
            ...(location.kind === 'volume' ? { checksum: location.checksum } : {}),
          }
  const digest = Buffer.from(object.digest).toString('hex')
  return { bucket, key, sequence, size, etag, digest, headers, metadata, payload }
}

function withoutReferences(object: ExpectedObject): unknown {
  if (object.payload.kind === 'none') return object
  const payload = Object.entries(object.payload).filter(([field]) => field !== 'references')
  return { ...object, payload: Object.fromEntries(payload) }
}

test('the golden journal opens and gives exactly the state it was made with', async (t) => {
  const paths = copyStore(t.testdir())
  const report = await verifyAtRest(paths)
  t.match(report, {
    intact: true,
    records: expected.head.sequence + 1,
    segments: SEGMENTS.length,
    headSequence: expected.head.sequence,
    headHash: expected.head.hash,
    deploymentId: GOLDEN_DEPLOYMENT,
    mark: { sequence: expected.head.sequence, batchNumber: expected.head.batch, cleanStop: true },
    notes: ['2 changes that the system makes by itself carry another principal.'],
  })
  const end = { sequence: 0, batch: 0, hash: '' }
  readJournal(nodeDisk, paths, undefined, {
    record: () => undefined,
    batch: (chain) => {
      const { sequence, batch } = lastBefore(chain)
      Object.assign(end, { sequence, batch, hash: chain.head.toString('hex') })
    },
  })
  t.same(end, expected.head, 'the writer side reads the same head')

  const store = await openGolden(paths)
  t.match(store.report, { created: false, replayedRecords: expected.head.sequence + 1, cut: undefined })
  t.equal(store.deploymentId, GOLDEN_DEPLOYMENT)
  t.same(
    store.catalog
      .snapshot()
      .buckets()
      .map(({ name: bucket, id, region }) => ({ name: bucket, id, region })),
    expected.buckets,
  )
  t.same(
    expected.objects.map((object) => describe(store, object)),
    expected.objects.map(withoutReferences),
  )
  const listed = expected.buckets.flatMap(({ name: bucket, id }) =>
    store.catalog
      .snapshot()
      .list(bucketIdOf(id), { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 1000 })
      .objects.map(({ key }) => `${bucket}/${key}`),
  )
  t.same(
    listed,
    expected.objects.map(({ bucket, key }) => `${bucket}/${key}`),
    'and nothing else is there',
  )
  const payloads = expected.objects.flatMap(({ payload, size }) =>
    payload.kind === 'none' ? [] : [{ ...payload, size }],
  )
  const stored = new Map(payloads.map(({ id, size }) => [id, size]))
  const rows = store.catalog.snapshot().storedPayloads(-1, 1000)
  const references = rows.map((row) => row.references)
  t.same(
    references,
    [...stored.keys()]
      .toSorted((left, right) => left - right)
      .map((id) => payloads.find((one) => one.id === id)?.references),
  )
  t.match(store.catalog.snapshot().totals(), {
    buckets: expected.buckets.length,
    objects: expected.objects.length,
    logicalBytes: expected.objects.reduce((total, { size }) => total + size, 0),
    physicalBytes: [...stored.values()].reduce((total, size) => total + size, 0),
  })
  await store.close(true)
  t.match(await verifyAtRest(paths), { intact: true, records: expected.head.sequence + 3 }, 'the store goes on from it')
})

interface Variant {
  readonly name: string
  readonly damage: (paths: StorePaths) => void
  /** The error that opening ends with, and what its message names; undefined when the store opens. */
  readonly refused: readonly [error: string, message: RegExp] | undefined
  /** Bytes that the store cuts off when it opens. */
  readonly cut?: number
  /** Verdict of the first problem that the verifier names, with its segment; undefined when there is none. */
  readonly verdict: readonly [verdict: string, segment: string] | undefined
  readonly torn?: boolean
}

function withoutHead(damage: (paths: StorePaths) => void): (paths: StorePaths) => void {
  return (paths) => {
    damage(paths)
    rmSync(paths.head)
  }
}

const cutTail = (paths: StorePaths): void =>
  truncateSync(segmentPath(paths, -1), dataLength(segmentPath(paths, -1)) - 60)

function swap(paths: StorePaths): void {
  const [first, second] = [segmentPath(paths, 1), segmentPath(paths, 2)]
  const aside = `${first}.aside`
  renameSync(first, aside)
  renameSync(second, first)
  renameSync(aside, second)
}

const VARIANTS: readonly Variant[] = [
  {
    name: 'a byte of a record in a sealed segment',
    damage: (paths) => flipByte(segmentPath(paths, 1), 1000),
    refused: ['JournalDamagedError', new RegExp(`${name(1)}, offset \\d+, sequence \\d+`)],
    verdict: [DAMAGED, name(1)],
  },
  {
    name: 'a byte of a record in the middle of the open segment',
    damage: (paths) => flipByte(segmentPath(paths, -1), 500),
    refused: ['JournalDamagedError', /damage before the tail.*offset \d+, sequence \d+/],
    verdict: [DAMAGED, name(-1)],
  },
  {
    name: 'a byte of a segment header',
    damage: (paths) => flipByte(segmentPath(paths, 2), 30),
    refused: ['JournalDamagedError', new RegExp(`${name(2)}: header is damaged`)],
    verdict: [DAMAGED, name(2)],
  },
  {
    name: 'the first segment is gone',
    damage: (paths) => rmSync(segmentPath(paths, 0)),
    refused: ['JournalDamagedError', /the first segment is missing/],
    verdict: [MISSING, name(1)],
  },
  {
    name: 'a middle segment is gone',
    damage: (paths) => rmSync(segmentPath(paths, 2)),
    refused: ['JournalDamagedError', /a segment is missing before it/],
    verdict: [MISSING, name(3)],
  },
  {
    name: 'two segments are exchanged',
    damage: swap,
    refused: ['JournalDamagedError', /file name and header have different sequences/],
    verdict: [MISSING, name(1)],
  },
  {
    name: 'a middle segment lost its seal',
    damage: (paths) => editFile(segmentPath(paths, 1), (bytes) => bytes.subarray(0, bytes.lastIndexOf('OSJB'))),
    refused: ['JournalDamagedError', /the segment before it is not sealed/],
    verdict: [DAMAGED, name(1)],
  },
  {
    name: 'the last segment is gone',
    damage: (paths) => rmSync(segmentPath(paths, -1)),
    refused: ['AcknowledgedDataLostError', /the high-water mark holds sequence/],
    verdict: [LOST, name(-2)],
  },
  {
    name: 'the last segment is gone, and the mark too: nothing tells that it was there',
    damage: withoutHead((paths) => rmSync(segmentPath(paths, -1))),
    refused: undefined,
    verdict: undefined,
  },
  {
    name: 'the last batch is cut',
    damage: cutTail,
    refused: ['AcknowledgedDataLostError', /the high-water mark holds sequence/],
    verdict: [LOST, name(-1)],
    torn: true,
  },
  {
    name: 'the last batch is cut and nobody knows of it',
    damage: withoutHead(cutTail),
    refused: undefined,
    cut: 1,
    verdict: undefined,
    torn: true,
  },
  {
    name: 'bytes stand behind the zeros of the open segment',
    damage: (paths) => flipByte(segmentPath(paths, -1), dataLength(segmentPath(paths, -1)) + 200),
    refused: undefined,
    cut: 1,
    verdict: undefined,
    torn: true,
  },
  {
    name: 'the mark names another hash',
    damage: (paths) =>
      editFile(paths.head, (slot) => {
        slot[32] = (slot[32] ?? 0) ^ 1
        slot.writeUInt32BE(crc32(slot.subarray(0, 128)), 128)
        return slot
      }),
    refused: ['AcknowledgedDataLostError', /another hash/],
    verdict: [CHANGED, name(-1)],
  },
  {
    name: 'a slot of the mark is damaged: the other one counts',
    damage: (paths) => editFile(paths.head, (bytes) => bytes.fill(0xff, 0, 40)),
    refused: undefined,
    verdict: undefined,
  },
]

test('the engine and the independent verifier agree on every damaged variant', async (t) => {
  for (const { name: title, damage, refused, cut, verdict, torn } of VARIANTS) {
    await t.test(title, async (variant) => {
      const paths = copyStore(variant.testdir())
      damage(paths)
      const report = await verifyAtRest(paths)
      variant.equal(report.openSegmentTornTail !== undefined, torn ?? false, 'the verifier sees a torn tail')
      const [first] = report.problems
      variant.same(first === undefined ? undefined : [first.verdict, first.segment], verdict, 'the verifier')
      if (refused !== undefined) {
        const before = journalListing(paths)
        const [error, message] = refused
        await variant.rejects(openGolden(paths, OTHER_BOOT_ID), { name: error, message }, 'the engine refuses')
        variant.same(journalListing(paths), before, 'and has changed nothing in the journal')
        return
      }
      const store = await openGolden(paths, OTHER_BOOT_ID)
      variant.equal(store.report.cut !== undefined, cut !== undefined, 'something is cut off')
      await store.close(true)
      variant.match(
        await verifyAtRest(paths),
        { intact: true, openSegmentTornTail: undefined },
        'what it goes on with is right',
      )
    })
  }
})
