/** The store whose bits are flipped: made once, and kept as a stop in order and as a kill leave it. */
import { createHash } from 'node:crypto'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keysOf } from '../../../cli/access/access-keys.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { compressJournal } from '../../support/journals/cold-segments.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { snapshotOf } from '../../support/snapshots.ts'
import { MASTER_KEY } from '../../support/test-clients.ts'
import { roomyDisk } from '../../support/test-store.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { type FlippedServer, startFlipped } from './flipped-server.ts'

export const BOOT = 'boot-1'
export const NEXT_BOOT = 'boot-2'
/** Keys of each bucket; every fifth is written twice, every tenth deleted. */
const KEYS = 120
const LARGE_EVERY = 16
const LARGE_BYTES = 5000
/** So many of the newest segments are not compressed. */
const PLAIN_SEGMENTS = 3

/** A version, or the object of a bucket without versions. */
export interface KnownObject {
  readonly bucket: string
  readonly key: string
  /** As clients name it; undefined in a bucket without versions. */
  readonly versionId: string | undefined
  readonly isCurrent: boolean
  readonly etag: string
  readonly bytes: number
  /** Of the body, in hexadecimal. */
  readonly sha256: string
}

export interface Known {
  readonly objects: readonly KnownObject[]
  /** `bucket/key` of what was deleted. */
  readonly absent: readonly string[]
  /** `bucket/key` that may be there or not: a change had no answer. */
  readonly unsure: readonly string[]
  /** A version under retention in compliance mode. */
  readonly locked: KnownObject
}

export interface Images {
  /** Data directories. */
  readonly stopped: string
  readonly killed: string
  readonly known: Known
}

/** Makes both data directories in a directory. */
export async function makeImages(directory: string): Promise<void> {
  const { stopped, killed, known } = pathsIn(directory)
  const server = await startFlipped(stopped, BOOT)
  const { paths, store } = server
  const keys = keysOf(roomyDisk, paths, MASTER_KEY)
  const filling = new Filling(server)
  await filling.fill('plain', [])
  await filling.fill('versioned', [['x-amz-bucket-object-lock-enabled', 'true']])
  await snapshotOf(paths, { keys })
  await filling.again('plain')
  await filling.again('versioned')
  await store.loop.drained()
  await snapshotOf(paths, { keys })
  await compressJournal(paths, PLAIN_SEGMENTS, roomyDisk)
  const signing = signingOf({ ...store, paths })
  await signing.settle()
  await signing.close()
  await store.loop.drained()
  // A start removes it unread.
  rmSync(paths.projectionsFollower, { recursive: true })
  cpSync(stopped, killed, { recursive: true })
  await server.stop()
  writeFileSync(known, JSON.stringify(filling.known))
}

export function imagesIn(directory: string): Images {
  const { stopped, killed, known } = pathsIn(directory)
  return { stopped, killed, known: JSON.parse(readFileSync(known, 'utf8')) as Known }
}

function pathsIn(directory: string): Record<'stopped' | 'killed' | 'known', string> {
  return {
    stopped: join(directory, 'stopped'),
    killed: join(directory, 'killed'),
    known: join(directory, 'known.json'),
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

class Filling {
  readonly #server: FlippedServer
  #objects: KnownObject[] = []
  readonly #absent: string[] = []
  #locked: KnownObject | undefined
  #seed = 0

  constructor(server: FlippedServer) {
    this.#server = server
  }

  get known(): Known {
    if (this.#locked === undefined) throw new Error('no version is locked')
    return { objects: this.#objects, absent: this.#absent, unsure: [], locked: this.#locked }
  }

  async fill(bucket: string, headers: readonly HeaderLine[]): Promise<void> {
    await this.#send('PUT', `/${bucket}`, headers)
    for (let index = 0; index < KEYS; index += 1) await this.#put(bucket, `key-${index}`, index)
  }

  /** Writes some keys again, and deletes others. */
  async again(bucket: string): Promise<void> {
    for (let index = 0; index < KEYS; index += 1) {
      const key = `key-${index}`
      if (index % 5 === 0) await this.#put(bucket, key, index + 1)
      if (index % 10 === 1) await this.#delete(bucket, key)
      // A copy has the bytes of another.
      if (index % 20 === 2)
        await this.#put(bucket, `copy-${index}`, index, [['x-amz-copy-source', `/${bucket}/${key}`]])
    }
    if (bucket === 'plain') return
    const until = new Date(Date.now() + 86_400_000).toISOString()
    this.#locked = await this.#put(bucket, 'locked', 1, [
      ['x-amz-object-lock-mode', 'COMPLIANCE'],
      ['x-amz-object-lock-retain-until-date', until],
    ])
  }

  async #put(bucket: string, key: string, index: number, headers: readonly HeaderLine[] = []): Promise<KnownObject> {
    const copied = headers.some(([name]) => name === 'x-amz-copy-source')
    this.#seed += 1
    const body = copied
      ? Buffer.alloc(0)
      : sampleBytes(index % LARGE_EVERY === 0 ? LARGE_BYTES : 100 + index, this.#seed)
    const { headers: answered } = await this.#send('PUT', `/${bucket}/${key}`, headers, body)
    const source = this.#objects.find((one) => one.bucket === bucket && one.key === `key-${index}` && one.isCurrent)
    const content = copied && source !== undefined ? source : { bytes: body.length, sha256: sha256(body) }
    const isVersioned = bucket !== 'plain'
    this.#replace(bucket, key)
    const object: KnownObject = {
      bucket,
      key,
      versionId: isVersioned ? String(answered['x-amz-version-id']) : undefined,
      isCurrent: true,
      etag: copied ? String(source?.etag) : String(answered['etag']),
      bytes: content.bytes,
      sha256: content.sha256,
    }
    this.#objects.push(object)
    return object
  }

  async #delete(bucket: string, key: string): Promise<void> {
    await this.#send('DELETE', `/${bucket}/${key}`)
    this.#replace(bucket, key)
    this.#absent.push(`${bucket}/${key}`)
  }

  /** The current object of the key is gone, or is an earlier version. */
  #replace(bucket: string, key: string): void {
    this.#objects = this.#objects.flatMap((one) => {
      if (one.bucket !== bucket || one.key !== key) return [one]
      return one.versionId === undefined ? [] : [{ ...one, isCurrent: false }]
    })
  }

  async #send(
    method: string,
    target: string,
    headers: readonly HeaderLine[] = [],
    body: Buffer = Buffer.alloc(0),
  ): Promise<WireAnswer> {
    const answer = await this.#server.raw(method, target, { headers, body })
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`)
    return answer
  }
}
