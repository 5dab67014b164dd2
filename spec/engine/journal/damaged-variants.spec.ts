/** Damaged journals: the engine and the independent verifier say the same of each. */
import { cpSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import tap, { test } from 'tap'
import { type VerificationReport, verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { createBucket, write } from '../../support/commands.ts'
import {
  dataLength,
  editFile,
  flipByte,
  journalListing,
  segmentNames,
  segmentPath,
} from '../../support/journal-files.ts'
import { CHANGED, DAMAGED, LOST, MISSING } from '../../support/journals/journal-damage.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'
import { openTestStore, OTHER_BOOT_ID, type TestStore } from '../../support/test-store.ts'

const genuine = temporaryDirectory()
tap.teardown(() => rmSync(genuine, { recursive: true, force: true }))
const SEGMENTS = await makeGenuine(genuine)
const name = (index: number): string => SEGMENTS.at(index) as string

function open(root: string, bootId?: string): Promise<TestStore> {
  return openTestStore(root, { segmentBytes: 8 * 1024, ...(bootId && { bootId }) })
}

/** Three sealed segments, and one with some entries. Returns their names. */
async function makeGenuine(root: string): Promise<readonly string[]> {
  const store = await open(root)
  await store.client.execute(createBucket('photos'))
  let written = 0
  const put = () => store.client.execute(write('photos', `key-${written++}`, Buffer.from(`bytes ${written}`)))
  while (store.journal.place.segmentNumber < 3) await put()
  for (let more = 0; more < 5; more += 1) await put()
  await store.close(true)
  return segmentNames(store.paths)
}

/** A copy of the store without its projections. */
function copyStore(root: string): StorePaths {
  const paths = new StorePaths(root)
  cpSync(genuine, root, { recursive: true })
  rmSync(paths.projections, { recursive: true })
  return paths
}

function verifyAtRest(paths: StorePaths): Promise<VerificationReport> {
  return verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
}

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

/** Of the file with the high-water mark. */
const SLOT_BYTES = 4096

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
    refused: ['JournalDamagedError', /its seal is damaged/],
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
    damage: (paths) =>
      // A segment that was made while no spare was ready has no zeros of its own.
      editFile(segmentPath(paths, -1), (bytes) => {
        const zeros = Buffer.alloc(bytes.length + 8192 - dataLength(segmentPath(paths, -1)))
        zeros[200] = 0x10
        return Buffer.concat([bytes.subarray(0, dataLength(segmentPath(paths, -1))), zeros])
      }),
    refused: undefined,
    cut: 1,
    verdict: undefined,
    torn: true,
  },
  {
    name: 'the mark names another hash',
    damage: (paths) =>
      editFile(paths.head, (bytes) => {
        const isSecond = bytes.readBigUInt64BE(SLOT_BYTES + 8) > bytes.readBigUInt64BE(8)
        const slot = isSecond ? bytes.subarray(SLOT_BYTES) : bytes
        slot[32] = (slot[32] ?? 0) ^ 1
        slot.writeUInt32BE(crc32(slot.subarray(0, 128)), 128)
        return bytes
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
        await variant.rejects(open(paths.root, OTHER_BOOT_ID), { name: error, message }, 'the engine refuses')
        variant.same(journalListing(paths), before, 'and has changed nothing in the journal')
        return
      }
      const store = await open(paths.root, OTHER_BOOT_ID)
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
