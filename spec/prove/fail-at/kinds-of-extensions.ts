/** What extensions of S3 have a store do: appends, parts that are copied, checksums of parts. */
import type { ObjectChecksum } from '../../../engine/events/values.ts'
import { PART_MINIMUM } from '../../model/rules.ts'
import { appendObject } from '../../support/commands.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { completeUpload, copyPart, createUpload, type UploadName, writePart } from '../../support/upload-commands.ts'
import type { KindOfWork } from './kinds-of-work.ts'
import type { Life } from './life.ts'

const ADDED = sampleBytes(400, 11)
const OPENED = { ready: async () => undefined } as const

function current({ ledger: { state } }: Life, key: string): { readonly size: number; readonly sequence: number } {
  const found = state.current(state.buckets.get('kept'), key)
  if (found === undefined) throw new Error(`there is no ${key}`)
  return found
}

function append(life: Life, key: string, bytes: Buffer): Promise<unknown> {
  return life.send(appendObject('kept', key, current(life, key).size, bytes))
}

async function appendFile(life: Life, key: string, bytes: Buffer): Promise<void> {
  const body = { kind: 'file', name: await life.storeFile(bytes), sealed: false } as const
  await life.send(appendObject('kept', key, current(life, key).size, bytes, body))
}

/** All bytes of an object, by reference. */
function copy(life: Life, part: number, key: string): Promise<unknown> {
  return life.send(copyPart(life.upload, part, { bucket: 'kept', key, sequence: current(life, key).sequence }))
}

/** The model does not read the bytes, so the checksum need not be theirs. */
function checksum(seed: number): ObjectChecksum {
  return { algorithm: 'crc32', value: Uint8Array.from([0, 0, 0, seed]), composite: false }
}

/** The upload that asked for a checksum of checksums. */
function summedUpload({ ledger: { state } }: Life): UploadName {
  const found = [...state.uploads.values()].find((upload) => upload.checksum !== undefined)
  if (found === undefined) throw new Error('no upload asked for checksums')
  const { bucket, key, upload } = found
  return { bucket, key, upload }
}

const createSummed = (life: Life): Promise<unknown> =>
  life.send({ ...createUpload('kept', 'summed'), checksum: { algorithm: 'crc32', composite: true } })

async function sendSummed(life: Life): Promise<void> {
  await createSummed(life)
  for (const [part, size] of [
    [1, PART_MINIMUM],
    [2, 90],
  ] as const) {
    const command = writePart(summedUpload(life), part, sampleBytes(90, part), size)
    await life.send({ ...command, checksum: checksum(part) })
  }
}

function completeSummed(life: Life): Promise<unknown> {
  const upload = summedUpload(life)
  const { parts } = life.ledger.state.uploads.get(upload.upload) ?? { parts: new Map() }
  return life.send(
    completeUpload(
      upload,
      [...parts].map(([part, { etag }]) => ({ part, etag })),
    ),
  )
}

export const EXTENSIONS: readonly KindOfWork[] = [
  { name: 'append', ...OPENED, work: (life) => append(life, 'small', ADDED) },
  { name: 'append to a large object', ...OPENED, work: (life) => append(life, 'large', ADDED) },
  { name: 'large append', ...OPENED, work: (life) => appendFile(life, 'small', sampleBytes(90_000, 12)) },
  {
    name: 'append to what was appended',
    setUp: (life) => append(life, 'small', ADDED),
    ...OPENED,
    work: (life) => append(life, 'small', sampleBytes(700, 13)),
  },
  { name: 'part copy', ...OPENED, work: (life) => copy(life, 3, 'large') },
  { name: 'part copy over a part in a file', ...OPENED, work: (life) => copy(life, 2, 'small') },
  { name: 'upload that asks for checksums', ...OPENED, work: createSummed },
  {
    name: 'part with a checksum',
    setUp: createSummed,
    ...OPENED,
    work: (life) => life.send({ ...writePart(summedUpload(life), 1, ADDED), checksum: checksum(1) }),
  },
  { name: 'complete with checksums', setUp: sendSummed, ...OPENED, work: completeSummed },
]
