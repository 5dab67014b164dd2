/** The journal: its segments held against the verifier, which shares no code with their reader; its marks and bodies. */
import { sequenceOf } from '../../../../engine/brands.ts'
import { NewerFormatError, StoreUnreleasedError } from '../../../../engine/errors.ts'
import { firstOf } from '../../../../engine/journal/positions.ts'
import { crc32 } from 'node:zlib'
import type { SegmentWindow as VerifierWindow } from '../../../../engine/verify/segment-window.ts'
import { verifySegment } from '../../../../engine/verify/segment-verifier.ts'
import type { SegmentResult } from '../../../../engine/verify/segment-result.ts'
import type { Disk } from '../../../../engine/disk/disk.ts'
import { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { decodeGenesis, decodeSeal, encodeGenesis, encodeSeal } from '../../../../engine/journal/bodies.ts'
import { HeadFile } from '../../../../engine/journal/head-mark.ts'
import { RECORD_KIND } from '../../../../engine/journal/format.ts'
import { decodeSegmentHeader, encodeSegmentHeader, type SegmentHeader } from '../../../../engine/journal/segment.ts'
import { laterBatchFollows, scanSegment, SegmentWindow } from '../../../../engine/journal/segment-scan.ts'
import { encodeHeadSlot, packBody, segmentName } from '../../../support/journals/journal-bytes.ts'
import { sampleJournal } from '../../../support/journals/journal-damage.ts'
import type { Random } from '../../../support/random.ts'
import { repairedSegment } from '../journal-repair.ts'
import { memoryFile, MemoryWindow } from '../memory-files.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const SEGMENT_BYTES = 64 * 1024
const HEADER_BYTES = 256

/** What the store makes of a segment. */
interface Scan {
  readonly end: string
  /** Whether everything in it is right, a batch at its end that was not wholly written aside. */
  readonly sound: boolean
  readonly records: number
  readonly nextSequence: number
  readonly head: string
}

function scan(bytes: Buffer, header: SegmentHeader): Scan {
  const chain = firstOf(header)
  const window = new SegmentWindow(memoryFile(bytes))
  let records = 0
  let genesisIsRight = true
  const end = scanSegment(window, header.segmentNumber, HEADER_BYTES, chain, {
    record: ({ kind, body }) => {
      records += 1
      if (kind === RECORD_KIND.genesis) genesisIsRight = isGenesisOf(body, header)
    },
  })
  const isTorn = end.end === 'torn' && !laterBatchFollows(window, end.offset, header.segmentNumber, chain.nextBatch)
  const sealIsRight = end.seal === undefined || sealHolds(end.seal, bytes, header, chain.nextSequence - 2)
  const isWhole = end.end === 'sealed' || end.end === 'empty' || isTorn
  const { nextSequence, head } = chain
  const sound = isWhole && genesisIsRight && sealIsRight
  return { end: end.end, sound, records, nextSequence, head: head.toString('hex') }
}

function isGenesisOf(body: Buffer, { deploymentId }: SegmentHeader): boolean {
  try {
    return Buffer.from(decodeGenesis(body).deploymentId).equals(deploymentId)
  } catch (error) {
    // Whatever is in a body, it is told in words and not as a fault of the program.
    if (error instanceof TypeError) throw error
    return false
  }
}

type Seal = NonNullable<ReturnType<typeof decodeSeal>>

function sealHolds(seal: Seal, bytes: Buffer, header: SegmentHeader, lastSequence: number): boolean {
  const digest = new MemoryWindow(bytes).digestBefore(seal.lengthBytes)
  return (
    Buffer.from(seal.contentDigest).toString('hex') === digest &&
    seal.firstSequence === header.firstSequence &&
    seal.lastSequence === lastSequence
  )
}

function verified(bytes: Buffer, firstSequence: number): SegmentResult {
  const window = new MemoryWindow(bytes) as unknown as VerifierWindow
  const job = { path: 'memory', name: segmentName(firstSequence), isLast: true, watched: [], settleMilliseconds: 0 }
  return verifySegment(job, () => undefined, window)
}

const OF_ENTRIES: readonly string[] = ['change without its attempt', 'access not authenticated', 'forbidden value']
/** What the verifier says of the bodies of changes, which a start does not read before it has the end of the journal. */
const OF_BODIES: readonly string[] = ['the body is not an entry', 'its changes are none']

function judgeSegment(input: Buffer): Verdict {
  let header: SegmentHeader | undefined
  try {
    header = decodeSegmentHeader(input)
  } catch (error) {
    mustHold(error instanceof NewerFormatError || error instanceof StoreUnreleasedError, String(error))
  }
  const result = verified(input, header?.firstSequence ?? 0)
  mustBeSame(result.header !== undefined, header !== undefined, 'whether the header is right')
  if (header === undefined) return refused('header')
  // Numbers of 2^53 and more are in no journal; both readers take them for what a number can hold.
  const { segmentNumber, firstSequence, firstBatch, createdMicroseconds } = header
  if (![segmentNumber, firstSequence, firstBatch, createdMicroseconds].every(Number.isSafeInteger))
    return refused('numbers')
  mustBeSame([...encodeSegmentHeader(header)], [...input.subarray(0, HEADER_BYTES)], 'the header encoded again')
  const found = scan(input, header)
  // What entries say of each other and who wrote them is judged by the verifier alone: a start reads the bytes.
  const ofBytes = result.problems.filter(
    ({ verdict, detail }) => !OF_ENTRIES.includes(verdict) && !OF_BODIES.includes(detail),
  )
  const problem = ofBytes[0]
  if (result.newer.some(({ what }) => !what.startsWith('change kind'))) {
    mustHold(!found.sound, 'a start takes a record of a kind that the verifier does not know')
    return refused('newer')
  }
  if (found.sound && ofBytes.length === 0 && result.problemCount > 0) return refused(`${result.problems[0]?.verdict}`)
  mustBeSame(found.sound, ofBytes.length === 0, `${found.end}, and the verifier says ${problem?.detail}`)
  if (!found.sound) return refused(`${found.end} ${problem?.verdict}`)
  mustBeSame([found.records, found.nextSequence], [result.records, result.nextSequence], 'the records')
  mustBeSame(result.lastHash ?? found.head, found.head, 'the end of the chain')
  mustBeSame(result.tornTail !== undefined, found.end === 'torn', 'whether the end is torn')
  return found.end === 'torn' ? refused('torn') : accepted(`${found.end} ${Math.min(found.records, 9)}`)
}

const JOURNAL = sampleJournal()
const SEGMENTS = JOURNAL.segments.map(({ bytes }) => Buffer.from(bytes))

const SLOT_BYTES = 4096

/** A disk with HEAD on it and nothing else. */
function diskWith(head: Buffer): Disk {
  const file = {
    ...memoryFile(head),
    writeAt: (bytes: Uint8Array, at: number) => head.set(bytes, at),
    sync: () => undefined,
  }
  return { exists: () => true, openToWrite: () => file } as unknown as Disk
}

const PATHS = new StorePaths('store')

/** The slots by the table of spec/formats/journal.md. */
function naiveMark(head: Buffer): unknown {
  const marks = [0, 1].flatMap((slot) => {
    const bytes = head.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)
    if (bytes.toString('latin1', 0, 8) !== 'OSTHEAD1' || crc32(bytes.subarray(0, 128)) !== bytes.readUInt32BE(128))
      return []
    const number = (at: number): number => Number(bytes.readBigUInt64BE(at))
    const bootId = bytes.toString('ascii', 65, 101).split('\0')[0]
    const clean = bytes[64] === 1
    return [
      {
        number: number(8),
        mark: {
          sequence: number(16),
          batch: number(24),
          head: bytes.toString('hex', 32, 64),
          clean,
          bootId,
          refused: bytes.toString('hex', 104, 128).replace(/^0+$/, ''),
        },
      },
    ]
  })
  const [first, second] = marks
  return (second === undefined || (first !== undefined && first.number > second.number) ? first : second)?.mark
}

function judgeHead(input: Buffer): Verdict {
  const bytes = Buffer.alloc(SLOT_BYTES * 2)
  bytes.set(input.subarray(0, bytes.length))
  const expected = naiveMark(bytes)
  // Nobody writes so many marks that their number is not exact any more.
  if ([8, SLOT_BYTES + 8].some((at) => bytes.readBigUInt64BE(at) >= 2n ** 53n)) return refused('numbers')
  const file = HeadFile.open(diskWith(bytes), PATHS)
  const { newest } = file
  const found = newest && {
    ...newest,
    head: Buffer.from(newest.head).toString('hex'),
    refused: Buffer.from(newest.refused ?? []).toString('hex'),
  }
  mustBeSame(found, expected, 'the newest mark')
  // A torn write of the next mark leaves this one.
  const next = { sequence: sequenceOf(7), batch: 3, head: Buffer.alloc(32, 5), clean: true, bootId: 'boot' }
  file.write(next)
  mustBeSame(HeadFile.open(diskWith(bytes), PATHS).newest?.sequence, 7, 'the mark that was written')
  return newest === undefined ? refused() : accepted()
}

function repairedHead(input: Buffer, random: Random): Buffer {
  const bytes = Buffer.alloc(SLOT_BYTES * 2)
  bytes.set(input.subarray(0, bytes.length))
  for (const slot of [0, 1]) {
    const at = slot * SLOT_BYTES
    if (random.below(3) > 0) bytes.writeUInt32BE(crc32(bytes.subarray(at, at + 128)), at + 128)
  }
  return bytes
}

/** Sequences of a mark, small and as large as they can be. */
function headByChance(random: Random): Buffer {
  const slots = [0, 1].map(() =>
    encodeHeadSlot({
      markNumber: random.below(5),
      sequence: random.of([0, 1, 2 ** 32, 2 ** 53 - 1]),
      batchNumber: random.below(9),
      hash: Buffer.alloc(32, random.below(256)),
      cleanStop: random.below(2) === 0,
    }),
  )
  return Buffer.concat(slots)
}

/** A genesis or a seal: the first byte says which. */
function judgeBody(input: Buffer): Verdict {
  const body = input.subarray(1)
  if ((input[0] ?? 0) % 2 === 0) {
    const seal = decodeSeal(body)
    if (seal === undefined) return refused('seal')
    mustBeSame(decodeSeal(encodeSeal(seal)), seal, 'the seal again')
    return accepted('seal')
  }
  try {
    const genesis = decodeGenesis(body)
    mustBeSame(decodeGenesis(encodeGenesis(genesis)), genesis, 'the genesis again')
    return accepted('genesis')
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error
    return refused('genesis')
  }
}

const GENESIS = packBody([1, 'object-store', Buffer.alloc(16, 1), Buffer.alloc(32, 2)])
const SEAL = packBody([3, 2 ** 40, 2 ** 40 + 5, 4096, Buffer.alloc(32, 3)])
const MESSAGE_PACK = '\x90 \x94 \x95 \xc0 \xc4\x10 \xc4\x20 \xcf \xcb \xdd\xff\xff\xff\xff \xdf\xff\xff\xff\xff'.split(
  ' ',
)
const HEX_WORDS = MESSAGE_PACK.map((text) => Buffer.from(text, 'latin1'))

export const JOURNAL_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'journal-segment',
    seeds: SEGMENTS,
    words: [
      'OSJB',
      'OSJE',
      'OSJOURNL',
      'OSTJRNL1',
      Buffer.alloc(8),
      Buffer.alloc(64),
      ...SEGMENTS.map((bytes) => bytes.subarray(256, 600)),
    ],
    bytesMaximum: SEGMENT_BYTES,
    repair: repairedSegment,
    judge: judgeSegment,
  },
  {
    name: 'journal-head',
    seeds: [JOURNAL.head(), JOURNAL.head(true)],
    words: ['OSTHEAD1', Buffer.alloc(64)],
    bytesMaximum: SLOT_BYTES * 2,
    make: headByChance,
    repair: repairedHead,
    judge: judgeHead,
  },
  {
    name: 'journal-body',
    seeds: [Buffer.concat([Buffer.of(1), GENESIS]), Buffer.concat([Buffer.of(0), SEAL])],
    words: HEX_WORDS,
    bytesMaximum: 32 * 1024,
    judge: judgeBody,
  },
]
