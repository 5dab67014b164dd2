/**
 * A short life of a store with fixed clock and identity, for golden journal 1: changes of kinds 1 to 7, three segments,
 * and the state it must lead to, worked out here beside the commands and not read from the store.
 */
import { crc32 } from 'node:zlib'
import type { Command, CopyObject, Done, WriteObject } from '../../engine/commands.ts'
import { auditOf, copyObject, createBucket, deleteBucket, deleteObject, digestOf, md5Of, write } from './commands.ts'

export const GOLDEN_DEPLOYMENT = Buffer.from('0123456789abcdef0123456789abcdef', 'hex')
export const GOLDEN_MASTER_KEY = Buffer.alloc(32, 0x47)
export const GOLDEN_BOOT_ID = '00000000-1111-2222-3333-444444444444'
/** 2026-01-02T03:04:05Z. */
export const GOLDEN_TIME = 1_767_323_045_000_000
export const GOLDEN_SEGMENT_BYTES = 8 * 1024

/** An object as it must be in the end. Digest and checksum in hexadecimal and as a number. */
export interface ExpectedObject {
  readonly bucket: string
  readonly key: string
  readonly sequence: number
  readonly size: number
  readonly etag: string
  readonly digest: string
  readonly headers: readonly string[]
  readonly metadata: readonly string[]
  /** Where the bytes are; offsets of volumes follow from the order of the writes. */
  readonly payload:
    | { readonly kind: 'none' }
    | { readonly kind: 'volume'; readonly id: number; readonly references: number; readonly checksum: number }
    | { readonly kind: 'file'; readonly id: number; readonly references: number; readonly name: string }
}

export interface ExpectedBucket {
  readonly name: string
  readonly id: number
  readonly region: string
}

export interface GoldenState {
  readonly buckets: readonly ExpectedBucket[]
  readonly objects: readonly ExpectedObject[]
}

export type Execute = (command: Command) => Promise<Done>

const FILE_NAME = 'feedfacecafebeef010000000001'
const SERVER = auditOf('server.start', 'server')

function bytesOf(seed: string, length: number): Buffer {
  return Buffer.from(seed.repeat(Math.ceil(length / seed.length)).slice(0, length))
}

/** Writes enough small objects to fill the first segments; each is written twice and deleted. */
async function passingObjects(execute: Execute, bucket: string): Promise<void> {
  for (let index = 0; index < 8; index += 1) {
    const key = `passing/${index}`
    await execute(write(bucket, key, bytesOf('first', 40 + index)))
    await execute(write(bucket, key, bytesOf('second', 90 + index)))
    await execute(deleteObject(bucket, key))
  }
}

function facts(bytes: Buffer): Pick<ExpectedObject, 'size' | 'etag' | 'digest'> {
  return { size: bytes.length, etag: md5Of(bytes), digest: digestOf(bytes).toString('hex') }
}

function at(bucket: string, key: string, done: Done): Pick<ExpectedObject, 'bucket' | 'key' | 'sequence'> {
  return { bucket, key, sequence: done.sequence }
}

function described(command: WriteObject): WriteObject {
  return {
    ...command,
    headers: ['content-type', 'image/png', 'cache-control', 'no-store'],
    metadata: ['größe', '10×15'],
  }
}

/** Lives the life through `execute` and returns what must be there at its end. */
export async function liveGoldenHistory(execute: Execute): Promise<GoldenState> {
  await execute({
    kind: 'record-server-event',
    audit: SERVER,
    changes: [{ name: 'server.started', version: '0.1.0', start: 'feedfacecafebeef' }],
  })
  const photos = await execute(createBucket('photos'))
  await execute(createBucket('passing'))
  const archive = await execute(createBucket('archive.2026'))
  await passingObjects(execute, 'passing')
  await execute(deleteBucket('passing'))
  await execute({ kind: 'record-failed-change', audit: auditOf('s3:PUT', 'bucket:photos/secret'), result: 'denied' })

  const small = bytesOf('small object ', 1000)
  const large = bytesOf('large object ', 100_000)
  const smallDone = await execute(described(write('photos', 'a/b//c/../d e+%2F?', small)))
  const emptyDone = await execute(write('photos', 'empty', Buffer.alloc(0)))
  const intent = await execute({ kind: 'record-attempt', audit: auditOf('s3:PUT', 'bucket:photos/grüße/日本語') })
  const inFile: WriteObject = {
    ...write('photos', 'grüße/日本語', large),
    body: { kind: 'file', name: FILE_NAME, sealed: false },
  }
  const largeDone = await execute({ ...inFile, intent: intent.sequence })
  const copies: CopyObject[] = [
    copyObject(
      { bucket: 'photos', key: 'a/b//c/../d e+%2F?', sequence: smallDone.sequence },
      { bucket: 'archive.2026', key: 'copy' },
    ),
    copyObject(
      { bucket: 'photos', key: 'grüße/日本語', sequence: largeDone.sequence },
      { bucket: 'archive.2026', key: 'copy-of-large' },
      { headers: ['content-language', 'de'], metadata: [] },
    ),
  ]
  const [copyDone, largeCopyDone] = [await execute(copies[0] as CopyObject), await execute(copies[1] as CopyObject)]
  await passingObjects(execute, 'photos')
  await execute({
    kind: 'record-server-event',
    audit: SERVER,
    changes: [
      { name: 'journal.recovered', segment: 1, offset: 4096, length: 77, digest: digestOf(Buffer.from('cut off')) },
      { name: 'server.stopped' },
    ],
  })

  const plain = { headers: ['content-type', 'text/plain'], metadata: [] }
  const { headers, metadata } = described(write('photos', 'x', small))
  const smallPayload = { kind: 'volume', id: smallDone.sequence, references: 2, checksum: crc32(small) } as const
  const largePayload = { kind: 'file', id: largeDone.sequence, references: 2, name: FILE_NAME } as const
  return {
    buckets: [
      { name: 'archive.2026', id: archive.sequence, region: 'us-east-1' },
      { name: 'photos', id: photos.sequence, region: 'us-east-1' },
    ],
    objects: [
      { ...at('archive.2026', 'copy', copyDone), ...facts(small), headers, metadata, payload: smallPayload },
      {
        ...at('archive.2026', 'copy-of-large', largeCopyDone),
        ...facts(large),
        headers: ['content-language', 'de'],
        metadata: [],
        payload: largePayload,
      },
      { ...at('photos', 'a/b//c/../d e+%2F?', smallDone), ...facts(small), headers, metadata, payload: smallPayload },
      { ...at('photos', 'empty', emptyDone), ...facts(Buffer.alloc(0)), ...plain, payload: { kind: 'none' } },
      { ...at('photos', 'grüße/日本語', largeDone), ...facts(large), ...plain, payload: largePayload },
    ],
  }
}
