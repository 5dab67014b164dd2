/** Everything that a client can see of a store, over the wire, so that two moments can be compared. */
import { hash } from 'node:crypto'
import { listPages } from './list-model.ts'
import type { TestServer } from './test-server.ts'
import { elements } from './wire-client.ts'

/** Headers that belong to one answer and not to the object. */
const OF_THE_ANSWER: ReadonlySet<string> = new Set(['date', 'x-amz-request-id', 'connection', 'keep-alive'])

export interface StoreSnapshot {
  /** The answer to ListBuckets without its first line. */
  readonly buckets: string
  /** Listing of each bucket as it is answered. */
  readonly listings: Readonly<Record<string, string>>
  /** Every object: headers of HEAD and digest of the bytes. */
  readonly objects: Readonly<Record<string, { readonly headers: object; readonly sha256: string }>>
}

export async function snapshotOf(server: TestServer): Promise<StoreSnapshot> {
  const buckets = (await server.raw('GET', '/')).text
  const listings: Record<string, string> = {}
  const objects: Record<string, { headers: object; sha256: string }> = {}
  for (const bucket of elements(buckets, 'Name')) {
    listings[bucket] = (await server.raw('GET', `/${bucket}?list-type=2&fetch-owner=true`)).text
    for (const { entries } of await listPages(server, bucket, {}, 1000)) {
      for (const key of entries) objects[`${bucket}/${key}`] = await objectOf(server, bucket, key)
    }
  }
  return { buckets, listings, objects }
}

async function objectOf(server: TestServer, bucket: string, key: string) {
  const target = `/${bucket}/${encodeURIComponent(key)}`
  const head = await server.raw('HEAD', target)
  const got = await server.raw('GET', target)
  if (head.status !== 200 || got.status !== 200) throw new Error(`${target}: ${head.status}, ${got.status}`)
  const headers = Object.fromEntries(Object.entries(head.headers).filter(([name]) => !OF_THE_ANSWER.has(name)))
  return { headers, sha256: hash('sha256', got.body, 'hex') }
}
