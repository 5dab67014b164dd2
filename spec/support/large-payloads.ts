/** Payload files without a store around them. */
import { mkdirSync } from 'node:fs'
import type { Disk } from '../../engine/disk/disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { type FileLocation, PayloadReader } from '../../engine/payloads/payload-reader.ts'
import type { PayloadSealer } from '../../engine/payloads/sealing.ts'
import { UploadStore } from '../../engine/payloads/upload-store.ts'
import { digestOf, md5Of } from './commands.ts'
import { inlineHashing } from './inline-hashing.ts'
import { roomyDisk } from './test-store.ts'

/** Name of the start that stores. */
export const START = 'feedfacecafebeef'

/** A data directory with nothing but places for payloads. */
export function payloadPaths(root: string): StorePaths {
  const paths = new StorePaths(root)
  for (const path of [paths.volumes, paths.files, paths.uploads]) mkdirSync(path, { recursive: true })
  return paths
}

export interface StoreLargeOptions {
  readonly disk?: Disk
  /** Given: the file is encrypted. */
  readonly sealer?: PayloadSealer
  /** Part of the name: another one for each payload of a directory. */
  readonly thread?: number
}

/** Stores bytes in chunks of a length: an even one as a sender that stops when it is told to, an odd one as one that does not. */
export async function storeLarge(
  paths: StorePaths,
  bytes: Buffer,
  chunk: number,
  { disk = roomyDisk, sealer, thread = 1 }: StoreLargeOptions = {},
): Promise<FileLocation> {
  const writer = new UploadStore(disk, paths, START, thread, inlineHashing, sealer).create()
  try {
    for (let at = 0; at < bytes.length; at += chunk) {
      const part = bytes.subarray(at, at + chunk)
      if (chunk % 2 === 0) await writer.write(part)
      else writer.writeNow(part)
    }
  } catch (error) {
    await writer.abandon()
    throw error
  }
  const { name, size, md5, digest, sealed } = await writer.finish()
  if (md5 !== md5Of(bytes) || !digest.equals(digestOf(bytes))) throw new Error('the digests are wrong')
  return { kind: 'file', name, length: size, sealed }
}

/** The proved bytes of a part. */
export async function readLarge(
  paths: StorePaths,
  location: FileLocation,
  start = 0,
  end = location.length,
  sealer?: PayloadSealer,
): Promise<Buffer> {
  const payloads = new PayloadReader(roomyDisk, paths, sealer)
  const reader = await payloads.openLarge(location, start, end)
  const parts: Buffer[] = []
  try {
    await reader.proveFirst()
    for (let part = await reader.next(); part !== undefined; part = await reader.next()) parts.push(Buffer.from(part))
    return Buffer.concat(parts)
  } finally {
    reader.close()
  }
}
