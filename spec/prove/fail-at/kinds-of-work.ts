/** What a store does with its disk, kind by kind: every operation of each is failed once. */
import { truncateSync } from 'node:fs'
import { rebuildProjections } from '../../../projections/replay/rebuild.ts'
import { chains } from '../../../projections/snapshots/snapshot-chain.ts'
import { usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import { VolumeCompaction } from '../../../workers/compact-volumes.ts'
import { SegmentCompression } from '../../../workers/compress-segments.ts'
import { MultipartDigest } from '../../../workers/digest-multipart.ts'
import { UploadReclaim } from '../../../workers/reclaim-uploads.ts'
import { PayloadFileSweep } from '../../../workers/sweep-payload-files.ts'
import type { BackgroundWorker } from '../../../workers/worker.ts'
import { createBucket, deleteBucket, deleteObject, renameObject, write, writeFile } from '../../support/commands.ts'
import { editFile, segmentPath } from '../../support/journal-files.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { snapshotOf } from '../../support/snapshots.ts'
import { BOOT_ID, OTHER_BOOT_ID } from '../../support/test-store.ts'
import { abortUpload, completeUpload, createUpload, writePart } from '../../support/upload-commands.ts'
import { deleteVersion } from '../../support/version-commands.ts'
import { AGING_WEBHOOKS_AND_LINKS } from './kinds-by-age-and-event.ts'
import { EXTENSIONS } from './kinds-of-extensions.ts'
import { READING } from './kinds-of-reading.ts'
import { SIGNING } from './kinds-of-signing.ts'
import type { Life } from './life.ts'

export interface KindOfWork {
  readonly name: string
  /** Brings a store to where the work can be done; what it leaves on the disk is where every trial begins. */
  readonly setUp?: (life: Life) => Promise<unknown>
  /** How the store is left then: stopped in order unless told otherwise. */
  readonly left?: 'stopped' | 'killed'
  /** Nothing is there before, not even a store. */
  readonly fromNothing?: true
  /** Done by the opened store, on a healthy disk, before the faults begin; a kind of work without it opens the store itself. */
  readonly ready?: (life: Life) => Promise<void>
  /** No spare can be made before the faults begin. */
  readonly withoutSpares?: true
  /** Boot of the host in which the work is done. */
  readonly bootId?: string
  /** Milliseconds from the beginning until the work is done. */
  readonly later?: number
  readonly work: (life: Life) => Promise<unknown>
}

const open = async (life: Life): Promise<void> => life.open()
const opened = { ready: async () => undefined } as const

const SMALL = sampleBytes(300, 1)
const LARGE = sampleBytes(100_000, 2)

async function putLarge(life: Life, key: string, bytes: Buffer): Promise<void> {
  const name = await life.storeFile(bytes)
  await life.send(writeFile('kept', key, bytes, name))
}

async function partInFile(life: Life, part: number): Promise<void> {
  const bytes = sampleBytes(20_000, part)
  const name = await life.storeFile(bytes)
  await life.send({ ...writePart(life.upload, part, bytes), body: { kind: 'file', name, sealed: false } })
}

const complete = (life: Life) => life.send(completeUpload(life.upload, life.parts))

/** The version of an object of the bucket `kept`. */
function sequenceIn({ ledger: { state } }: Life, key: string): number | undefined {
  return state.current(state.buckets.get('kept'), key)?.sequence
}

/** Small entries until the next batch does not fit the segment. */
async function fillSegment(life: Life): Promise<void> {
  while (!life.segmentIsFull) await life.send(deleteObject('kept', 'nothing'))
}

async function fillVolume(life: Life): Promise<void> {
  while (!life.volumeIsFull) await life.send(write('kept', 'filling', sampleBytes(2000, life.ledger.acknowledged)))
}

/** Steps until there is nothing to do; a step that fails is tried again, as the supervisor of the server does. */
async function runWorker(life: Life, worker: BackgroundWorker): Promise<void> {
  for (let steps = 0, failures = 0; steps < 100 && failures < 3; steps += 1) {
    try {
      if ((await worker.step()) !== 'more') break
    } catch (error) {
      life.told(error)
      failures += 1
    }
  }
  await worker.close?.()
}

function compressionOf(life: Life): SegmentCompression {
  return new SegmentCompression(life.disk, life.paths, {
    enabled: true,
    afterHours: 0,
    bytesPerSecond: Number.POSITIVE_INFINITY,
    start: life.store.start,
    clock: () => Number.MAX_SAFE_INTEGER,
    timer: () => 0,
    pause: () => Promise.resolve(),
  })
}

async function deadVolumes(life: Life): Promise<void> {
  const keys = Array.from({ length: 24 }, (_, index) => `volume-${index}`)
  for (const key of keys) await life.send(write('kept', key, sampleBytes(1500, key.length)))
  for (const key of keys.filter((_, index) => index % 8 !== 0)) await life.send(deleteObject('kept', key))
}

/** A batch that was on its way when the power went: its last sector is not what was written. */
async function tearTail(life: Life): Promise<void> {
  await life.store.client.execute(write('kept', 'torn', SMALL))
  const { offset } = life.store.journal.place
  const path = segmentPath(life.paths, -1)
  await life.end('killed')
  editFile(path, (bytes) => bytes.fill(0xa5, offset - 24, offset))
}

async function sealWithoutSuccessor(life: Life): Promise<void> {
  life.disk.fault = ({ name }) => (name === 'seal' ? { kind: 'error', error: new Error('the end') } : undefined)
  await fillSegment(life)
  await life.send(write('kept', 'sealing', SMALL)).catch(() => undefined)
}

/** Ends a segment, so that a snapshot can be made, and makes it. */
async function nextSnapshot(life: Life, changesShare = 1e9): Promise<void> {
  await fillSegment(life)
  await life.send(write('kept', 'sealing', SMALL))
  await snapshotOf(life.paths, { changesShare }, life.door)
}

function afterTwoDays(): number {
  return Date.now() + 2 * 86_400_000
}

/** A store with so many snapshots, the third and later ones of them changes, and entries after them in another segment. */
async function withSnapshots(life: Life, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await nextSnapshot(life)
  await life.send(deleteObject('kept', 'small'))
}

export const KINDS_OF_WORK: readonly KindOfWork[] = [
  { name: 'put small', ...opened, work: (life) => life.send(write('kept', 'new', SMALL)) },
  { name: 'put small over another', ...opened, work: (life) => life.send(write('kept', 'small', SMALL)) },
  { name: 'put large', ...opened, work: (life) => putLarge(life, 'new', LARGE) },
  { name: 'put large over another', ...opened, work: (life) => putLarge(life, 'large', LARGE) },
  {
    name: 'many in one batch',
    ...opened,
    work: (life) =>
      life.all([
        ...['x', 'y', 'z'].map((key) => write('kept', key, SMALL)),
        write('kept', 'empty', Buffer.alloc(0)),
        deleteObject('kept', 'small'),
        createBucket('more'),
      ]),
  },
  { name: 'create bucket', ...opened, work: (life) => life.send(createBucket('more')) },
  { name: 'delete bucket', ...opened, work: (life) => life.send(deleteBucket('empty')) },
  { name: 'create upload', ...opened, work: (life) => life.send(createUpload('kept', 'another')) },
  {
    name: 'rename over another',
    ...opened,
    work: (life) => life.send(renameObject('kept', 'large', 'small', sequenceIn(life, 'large'), 'token')),
  },
  ...EXTENSIONS,
  { name: 'part', ...opened, work: (life) => life.send(writePart(life.upload, 3, SMALL)) },
  { name: 'large part', ...opened, work: (life) => partInFile(life, 3) },
  { name: 'part replaced', ...opened, work: (life) => partInFile(life, 2) },
  { name: 'complete', ...opened, work: complete },
  { name: 'abort', ...opened, work: (life) => life.send(abortUpload(life.upload)) },
  { name: 'delete small', ...opened, work: (life) => life.send(deleteObject('kept', 'small')) },
  { name: 'delete large', ...opened, work: (life) => life.send(deleteObject('kept', 'large')) },
  { name: 'delete marker', ...opened, work: (life) => life.send(deleteObject('versions', 'key')) },
  {
    name: 'delete version',
    ...opened,
    work: (life) => life.send(deleteVersion('versions', 'key', life.version)),
  },
  { name: 'get small', ...opened, work: (life) => life.read('small') },
  { name: 'get large', ...opened, work: (life) => life.read('large') },
  { name: 'rotation', ready: fillSegment, work: (life) => life.send(write('kept', 'new', SMALL)) },
  {
    name: 'rotation without a spare',
    ready: fillSegment,
    withoutSpares: true,
    work: (life) => life.send(write('kept', 'new', SMALL)),
  },
  { name: 'next volume', ready: fillVolume, work: (life) => life.send(write('kept', 'new', sampleBytes(2000, 9))) },
  {
    name: 'next volume without a spare',
    ready: fillVolume,
    withoutSpares: true,
    work: (life) => life.send(write('kept', 'new', sampleBytes(2000, 9))),
  },
  {
    name: 'making of a spare',
    ...opened,
    withoutSpares: true,
    work: (life) => life.store.journal.prepareSpare(),
  },
  {
    name: 'compaction',
    setUp: deadVolumes,
    ...opened,
    work: (life) => runWorker(life, new VolumeCompaction(life.door, life.paths, life.client, life.store.catalog)),
  },
  {
    name: 'digest',
    setUp: complete,
    ...opened,
    work: (life) => runWorker(life, new MultipartDigest(life.client, life.store.catalog, life.store.payloads)),
  },
  {
    name: 'compression of a segment',
    setUp: async (life) => {
      await fillSegment(life)
      await life.send(write('kept', 'sealing', SMALL))
    },
    ...opened,
    work: (life) => runWorker(life, compressionOf(life)),
  },
  {
    name: 'reclaim of uploads',
    setUp: async (life) => {
      await life.send(createUpload('empty', 'key'))
    },
    ...opened,
    work: (life) => {
      const options = { afterDays: 1, clock: afterTwoDays, uploadIds: { encode: String } }
      return runWorker(life, new UploadReclaim(life.client, life.store.catalog, options))
    },
  },
  {
    name: 'sweep of payload files',
    setUp: (life) => life.storeFile(LARGE),
    ...opened,
    work: (life) => {
      const { store, door, paths } = life
      const isUsed = (name: string) => store.catalog.snapshot().payloadFileIsUsed(name)
      return runWorker(life, new PayloadFileSweep(door, paths, store.start, isUsed))
    },
  },
  { name: 'first snapshot', ready: fillSegment, work: (life) => nextSnapshot(life) },
  {
    name: 'third snapshot',
    setUp: (life) => withSnapshots(life, 2),
    ready: fillSegment,
    work: (life) => nextSnapshot(life),
  },
  {
    name: 'whole snapshot after changes',
    setUp: (life) => withSnapshots(life, 3),
    ready: fillSegment,
    work: (life) => nextSnapshot(life, 0),
  },
  ...AGING_WEBHOOKS_AND_LINKS,
  ...READING,
  ...SIGNING,
  { name: 'stop', ...opened, work: (life) => life.end('stopped') },
  {
    name: 'first start',
    fromNothing: true,
    work: async (life) => {
      await life.open()
      await life.send(createBucket('kept'))
    },
  },
  { name: 'start', work: open },
  {
    name: 'start after kill',
    setUp: async (life) => {
      life.store.uploads.create()
    },
    left: 'killed',
    work: open,
  },
  { name: 'start after power cut', left: 'killed', bootId: OTHER_BOOT_ID, work: open },
  {
    name: 'start from the only snapshot',
    setUp: (life) => withSnapshots(life, 1),
    left: 'killed',
    bootId: OTHER_BOOT_ID,
    work: open,
  },
  {
    name: 'start from the newer of two snapshots',
    setUp: (life) => withSnapshots(life, 2),
    left: 'killed',
    bootId: OTHER_BOOT_ID,
    work: open,
  },
  {
    name: 'start from a snapshot and changes, with another snapshot',
    setUp: (life) => withSnapshots(life, 4),
    left: 'killed',
    bootId: OTHER_BOOT_ID,
    work: open,
  },
  {
    name: 'start from a snapshot and changes of which some are torn',
    setUp: async (life) => {
      await withSnapshots(life, 4)
      const [chain] = chains(life.door, life.paths)
      truncateSync(chain?.changes.at(-1)?.path ?? '', 300)
    },
    left: 'killed',
    bootId: OTHER_BOOT_ID,
    work: open,
  },
  {
    name: 'start from a snapshot with another that is torn',
    setUp: async (life) => {
      await withSnapshots(life, 2)
      const [newest = ''] = usableNames(life.door, life.paths).map(({ path }) => path)
      truncateSync(newest, 100_000)
    },
    left: 'killed',
    bootId: OTHER_BOOT_ID,
    work: open,
  },
  { name: 'start with torn tail', setUp: tearTail, left: 'killed', bootId: OTHER_BOOT_ID, work: open },
  { name: 'start behind a seal', setUp: sealWithoutSuccessor, left: 'killed', work: open },
  {
    name: 'rebuild of projections',
    work: (life) => rebuildProjections(life.door, life.paths),
  },
]

export const bootOf = (kind: KindOfWork): string => kind.bootId ?? BOOT_ID

/** A cycle goes through one of so many shares of the kinds of work; as many cycles go through all of them. */
export const CYCLES = 8

/** The kinds of work of some cycles. Which they are is up to the seed; from `CYCLES` on they are all. */
export function chosen(cycles: number, seed: number): readonly KindOfWork[] {
  return KINDS_OF_WORK.filter((_, index) => (index + seed) % CYCLES < cycles)
}
