/** Golden stores: data directories that a released build wrote, and the answers that each later build must give of them. */
import { createHash, hash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { journalEntries } from '../journal-entries.ts'
import { type ManagedServer, startManaged } from '../management-server.ts'

/**
 * Each with the digest of its files, which never changes, and beside them `expected.json`, the answers of the build that
 * wrote it. `store-1.0` was made by the build of 1.0.0, `store-1.0-tags` by the build that added tags,
 * `store-1.0-bucket-policy` by the build that added policies of buckets.
 */
export const GOLDEN_STORES = [
  { path: 'spec/golden/store-1.0', sha256: '0b3f851950eb85c9d3c6f157dc5d5876df8e4f4727148f41d4db24540b48aac9' },
  { path: 'spec/golden/store-1.0-tags', sha256: '20e59bb847f35ef6e3f786571dad5c66001f4d5c58c2aae7525fbe19af04bc3d' },
  {
    path: 'spec/golden/store-1.0-bucket-policy',
    sha256: 'c10ca8e5d5b5d576e52cf7df84eeb19f2c436386af6aaadc6b7c888ac2dec11a',
  },
] as const
/** The master key that the store began with, and the one that it got later. */
export const FIRST_KEY = Buffer.alloc(32, 0x46)
export const GOLDEN_KEY = Buffer.alloc(32, 0x47)
/** A store with several segments and volumes, yet a small one. */
export const SETTINGS = {
  masterKey: GOLDEN_KEY,
  segmentBytes: 16 * 1024,
  volumeBytes: 64 * 1024,
  version: '1.0.0',
  bootId: '00000000-1111-2222-3333-444444444444',
  clockToleranceSeconds: 3600,
}

/** A copy of the data, as an upgrade finds it. Returns its directory. */
export function copyOfGolden(golden: string, root: string): string {
  const data = join(root, 'data')
  cpSync(join(golden, 'data'), data, { recursive: true })
  return data
}

/** The kinds of change in the journal of a data directory. */
export function kindsIn(data: string): Set<string> {
  return new Set(journalEntries(data).flatMap(({ changes }) => changes.map(({ name }) => name)))
}

export function startGolden(dataDirectory: string): Promise<ManagedServer> {
  const { segmentBytes, volumeBytes, masterKey } = SETTINGS
  return startManaged({
    dataDirectory,
    segmentBytes,
    volumeBytes,
    masterKey,
    lastMasterKeyAlone: true,
    extensions: ['tagging', 'bucket-policy'],
  })
}

const S3 = [
  '/',
  '/photos?uploads',
  '/photos?cors',
  '/versions?versioning',
  '/locked?object-lock',
  '/photos?tagging',
  '/photos?policy',
  '/deleted?policy',
] as const
const API = [
  '/buckets',
  '/buckets/photos',
  '/buckets/locked',
  '/buckets/photos/lifecycle',
  '/buckets/locked/lifecycle',
  '/service-accounts',
  '/policies',
  '/management-tokens',
  '/webhooks',
  '/webhook-deliveries?webhook_id=w1',
  '/buckets/photos/object-shares/cat.jpg',
  '/buckets/photos/object-embeds/cat.jpg',
  '/events?limit=1000',
  '/audit/events?until=2026-11-09T00:00:00Z&limit=100',
  '/reports/retention',
  '/transparency/checkpoints',
  '/transparency/key/handovers',
  '/transparency/witness/logs',
] as const
const HEADERS = [
  'etag',
  'last-modified',
  'x-amz-version-id',
  'x-amz-meta-colour',
  'x-amz-tagging-count',
  'content-type',
] as const
const SHOWN_BYTES = 4096

/** What a golden store answers by its requests. Ids of requests are left out; long bodies are digests. */
export async function goldenAnswers(server: ManagedServer): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  const s3 = async (target: string) => {
    const { status, text, body, headers } = await server.wire.send('GET', target)
    const kept = HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))
    const shown = body.length > SHOWN_BYTES ? hash('sha256', body) : text.replace(/<RequestId>[^<]*<.RequestId>/, '')
    answers[`GET ${target}`] = { status, headers: Object.fromEntries(kept), body: shown }
    return text
  }
  for (const target of S3) await s3(target)
  for (const bucket of ['photos', 'versions', 'locked']) {
    const listed = await s3(`/${bucket}?versions&encoding-type=url`)
    await s3(`/${bucket}?list-type=2`)
    for (const [, key = '', id = ''] of listed.matchAll(/<Key>([^<]*)<.Key><VersionId>([^<]*)</g)) {
      await s3(`/${bucket}/${key}?versionId=${id}`)
      await s3(`/${bucket}/${key}?tagging&versionId=${id}`)
      if (bucket !== 'locked') continue
      for (const part of ['retention', 'legal-hold']) await s3(`/${bucket}/${key}?${part}&versionId=${id}`)
    }
  }
  for (const target of API) {
    const { status, json } = await server.api.call('GET', target)
    answers[`GET /api/v1${target}`] = { status, json: JSON.parse(JSON.stringify(json ?? null, lasting)) as unknown }
  }
  return answers
}

const OF_NOW = ['generated_at', 'head_id', 'head_time', 'next_id', 'next_time']

function lasting(name: string, value: unknown): unknown {
  return OF_NOW.includes(name) ? undefined : value
}

/** The digest of all files of a golden store, by their names in order. */
export function digestOfGolden(golden: string): string {
  const data = join(golden, 'data')
  const all = createHash('sha256')
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(data, name)
    if (statSync(path).isFile()) all.update(`${name} ${hash('sha256', readFileSync(path))}\n`)
  }
  return all.digest('hex')
}
