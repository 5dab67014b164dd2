/**
 * A short life of a store with every kind of change and every form of their fields, for golden journal 2. What it must
 * lead to is worked out by the model, beside the commands; who may do what is told in golden-access.ts.
 */
import { crc32 } from 'node:zlib'
import type { Command, Done, WriteObject } from '../../engine/commands.ts'
import type { CatalogReader } from '../../projections/catalog-reader.ts'
import { auditOf, copyObject, createBucket, deleteBucket, deleteObject, digestOf, md5Of, write } from './commands.ts'
import { type GoldenAccess, liveAccess } from './golden-access.ts'
import { type Execute, GOLDEN_TIME } from './golden-history.ts'
import type { GoldenHead } from './golden-maker.ts'
import { goldenOfModel } from './golden-state.ts'
import { ModelRules } from './model-rules.ts'
import { ModelState } from './model-state.ts'
import * as uploads from './upload-commands.ts'
import * as versions from './version-commands.ts'

const NOW = Math.floor(GOLDEN_TIME / 1000)
const DAY = 24 * 60 * 60 * 1000
const LAST = Date.parse('9999-12-31T23:59:59.999Z')
const FULL = 5 * 1024 ** 2
const SERVER = auditOf('server.start', 'server')
const RULES = [
  {
    id: 'all',
    origins: ['https://*.example'],
    methods: ['GET', 'PUT'],
    headers: ['*'],
    exposed: ['etag'],
    maxAgeSeconds: 60,
  },
  { id: undefined, origins: ['*'], methods: ['HEAD'], headers: [], exposed: [], maxAgeSeconds: undefined },
]

function bytesOf(text: string, length: number): Buffer {
  return Buffer.from(text.repeat(Math.ceil(length / text.length)).slice(0, length))
}

/** A write whose bytes are said to be encrypted. */
function sealed(command: WriteObject): WriteObject {
  const { body } = command
  return body.kind === 'empty' ? command : { ...command, body: { ...body, sealed: true } }
}

/** Carries commands out on the store and on the model. */
class GoldenClient {
  readonly state = new ModelState()
  readonly #inFiles = new Map<string, Buffer>()
  readonly #rules = new ModelRules(this.state, this.#inFiles)
  readonly #execute: Execute
  readonly #catalog: CatalogReader
  #files = 0

  constructor(execute: Execute, catalog: CatalogReader) {
    this.#execute = execute
    this.#catalog = catalog
  }

  async do(command: Command): Promise<Done> {
    const done = await this.#execute(command)
    const now = Math.floor(done.timeMicroseconds / 1000)
    const outcome = this.#rules.apply(command, { sequence: done.sequence, now, clockIsBehind: false })
    if (outcome !== undefined && outcome.code !== 'done') throw new Error(`${command.kind}: ${outcome.code}`)
    return done
  }

  /** A body that is in a payload file, as far as the journal goes. */
  inFile(bytes: Buffer, isSealed: boolean) {
    this.#files += 1
    this.#inFiles.set(md5Of(bytes), bytes)
    const name = `feedfacecafebeef01${String(this.#files).padStart(10, '0')}`
    return { kind: 'file', name, sealed: isSealed } as const
  }

  /** The move of a small payload; nothing is read, since a golden store keeps no volumes. */
  async move(payload: number, bytes: Buffer): Promise<void> {
    const location = this.#catalog.payload(payload)
    if (location?.kind !== 'volume') throw new Error(`payload ${payload} is in no volume`)
    const { volume, offset } = location
    await this.do(uploads.movePayloads([{ payload, volume, offset, bytes, checksum: crc32(bytes) }]))
  }
}

/** What is kept beside the journal. */
export interface GoldenVersions {
  readonly head: GoldenHead
  readonly state: unknown
  readonly access: GoldenAccess
}

/** Lives the life and returns what must be there at its end. */
export async function liveVersionsHistory(
  execute: Execute,
  catalog: CatalogReader,
): Promise<Pick<GoldenVersions, 'state' | 'access'>> {
  const client = new GoldenClient(execute, catalog)
  const started = { name: 'server.started', version: '0.2.0', start: 'feedfacecafebeef' } as const
  await client.do({ kind: 'record-server-event', audit: SERVER, changes: [started] })
  await liveBuckets(client)
  await livePlain(client)
  await liveVersioned(client)
  await liveLocked(client)
  await liveUploads(client)
  const access = await liveAccess((command) => client.do(command))
  const cut = { segment: 1, offset: 4096, length: 77, digest: digestOf(Buffer.from('cut off')) }
  await client.do({
    kind: 'record-server-event',
    audit: SERVER,
    changes: [{ name: 'clock.observed' }, { name: 'journal.recovered', ...cut }, { name: 'server.stopped' }],
  })
  return { state: goldenOfModel(client.state), access }
}

async function liveBuckets(client: GoldenClient): Promise<void> {
  await client.do(createBucket('plain'))
  await client.do(createBucket('versions'))
  await client.do({ ...createBucket('locked'), lockEnabled: true, region: 'eu-central-1' })
  await client.do(createBucket('passing'))
  await client.do(versions.setCors('plain', RULES))
  await client.do(versions.setCors('versions', RULES.slice(1)))
  await client.do(versions.setCors('versions', []))
  await client.do(versions.setQuota('plain', { bytes: 1_000_000_000_000 }))
  await client.do(versions.setQuota('versions', { objects: 10, bytes: 5 * FULL }))
  await client.do(versions.setQuota('versions', { objects: 20 }))
  await client.do(versions.setQuota('passing', { objects: 0 }))
  await client.do(versions.setQuota('passing', {}))
}

/** Without versions: payloads sealed and not, moved, released, a volume that is removed. */
async function livePlain(client: GoldenClient): Promise<void> {
  const small = bytesOf('small ', 1500)
  const { sequence: first } = await client.do(write('plain', 'small', small))
  const { sequence: second } = await client.do(sealed(write('plain', 'sealed', small)))
  await client.do(write('plain', 'small-too', bytesOf('another ', 1500)))
  await client.do(write('plain', 'empty', Buffer.alloc(0)))
  for (const isSealed of [false, true]) {
    const bytes = bytesOf(isSealed ? 'sealed in a file ' : 'in a file ', 90_000)
    const key = isSealed ? 'file-sealed' : 'file'
    await client.do({ ...write('plain', key, bytes), body: client.inFile(bytes, isSealed) })
  }
  const from = { bucket: 'plain', key: 'small', sequence: first }
  const replacement = { headers: ['content-language', 'de'], metadata: ['größe', '10×15'] }
  await client.do(copyObject(from, { bucket: 'plain', key: 'copy' }, replacement))
  await client.do(write('plain', 'small', bytesOf('over it ', 100)))
  await client.do(deleteObject('plain', 'file'))
  await client.move(first, small)
  await client.move(second, small)
  await client.do(uploads.removeVolume(0))
}

/** Enabled, then suspended: versions, markers, the `null` one replaced by each, what comes back when one is deleted. */
async function liveVersioned(client: GoldenClient): Promise<void> {
  const put = (key: string, text: string) => client.do(write('versions', key, Buffer.from(text)))
  await put('before', 'without versions')
  await client.do(versions.setVersioning('versions', 'enabled'))
  await put('before', 'second')
  const { version: third = 0 } = await put('before', 'third')
  await client.do(versions.deleteVersion('versions', 'before', third))
  const { sequence } = await put('grüße/日本語', 'kept')
  await client.do(deleteObject('versions', 'grüße/日本語'))
  const { version: marker = 0 } = await client.do(deleteObject('versions', 'grüße/日本語'))
  await client.do(versions.deleteVersion('versions', 'grüße/日本語', marker))
  const source = { bucket: 'versions', key: 'grüße/日本語', sequence }
  await client.do({ ...copyObject(source, { bucket: 'versions', key: 'restored' }), sourceIsVersion: true })
  const { version: gone = 0 } = await put('gone', 'x')
  await client.do(versions.deleteVersion('versions', 'gone', gone))
  await client.do(versions.setVersioning('versions', 'suspended'))
  await put('before', 'replaces what was there without versions')
  await put('null', 'first of its key')
  await put('null', 'replaces the first')
  await client.do(deleteObject('versions', 'null'))
  await client.do(deleteObject('versions', 'restored'))
}

async function liveLocked(client: GoldenClient): Promise<void> {
  const put = (key: string, lock?: WriteObject['lock']) =>
    client.do({ ...write('locked', key, Buffer.from(key)), ...(lock === undefined ? {} : { lock }) })
  await put('free')
  await client.do(versions.setDefaultRetention('locked', { mode: 'GOVERNANCE', unit: 'days', value: 30 }))
  const { version: byDefault = 0 } = await put('by default')
  await put('held', { retention: undefined, hold: true })
  await client.do(versions.setDefaultRetention('locked', undefined))
  await put('compliance', { retention: { mode: 'COMPLIANCE', untilMilliseconds: LAST }, hold: false })
  await put('no hold', { retention: undefined, hold: false })
  await client.do(versions.setLegalHold('locked', 'by default', true))
  await client.do(versions.setRetention('locked', 'by default', undefined, byDefault, true))
  const { version: passing = 0 } = await put('passing', {
    retention: { mode: 'GOVERNANCE', untilMilliseconds: NOW + DAY },
    hold: undefined,
  })
  await client.do(versions.deleteVersion('locked', 'passing', passing, true))
  await client.do(versions.setDefaultRetention('locked', { mode: 'COMPLIANCE', unit: 'years', value: 7 }))
}

async function liveUploads(client: GoldenClient): Promise<void> {
  const begin = async (bucket: string, key: string, lock?: WriteObject['lock']) => {
    const command = uploads.createUpload(bucket, key)
    const { sequence } = await client.do({ ...command, metadata: ['a', 'b'], ...(lock === undefined ? {} : { lock }) })
    return { bucket, key, upload: sequence }
  }
  const part = async (name: uploads.UploadName, number: number, text: string, size?: number) => {
    const { etag = '' } = await client.do(uploads.writePart(name, number, Buffer.from(text), size))
    return { part: number, etag }
  }
  const whole = await begin('locked', 'whole', { retention: undefined, hold: true })
  const first = await part(whole, 1, 'first', FULL)
  await part(whole, 2, 'dropped')
  await part(whole, 9999, 'replaced', FULL)
  const replacing = await part(whole, 9999, 'replaces it', FULL)
  const bytes = bytesOf('a part in a file ', 70_000)
  const inFile = uploads.writePart(whole, 10_000, bytes)
  const { etag = '' } = await client.do({ ...inFile, body: client.inFile(bytes, true) })
  await client.do(uploads.completeUpload(whole, [first, replacing, { part: 10_000, etag }]))
  await client.do(uploads.recordDigest(whole.upload, digestOf(Buffer.from('first, replaces it, a part in a file'))))
  const single = await begin('versions', 'single')
  await client.do(uploads.completeUpload(single, [await part(single, 7, '')]))
  const aborted = await begin('plain', 'aborted')
  await part(aborted, 3, 'aborted')
  await client.do(uploads.abortUpload(aborted))
  const inProgress = await begin('plain', 'in progress')
  await part(inProgress, 5, 'waits')
  const reclaimed = await begin('passing', 'reclaimed')
  await part(reclaimed, 1, 'goes')
  const orphan = await begin('passing', 'orphan')
  await part(orphan, 2, 'waits for a reclaim')
  const bucketId = client.state.buckets.get('passing')?.id ?? 0
  await client.do(deleteBucket('passing'))
  await client.do(uploads.reclaimUpload(bucketId, 'reclaimed', reclaimed.upload))
}
