import { test } from 'tap'
import { decodeEntry } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'
import { openTestStore } from '../support/test-store.ts'

const audit = {
  principal: 'system:root',
  credentialId: undefined,
  sourceAddress: undefined,
  requestId: 'R1',
  operation: 's3:PUT',
  resource: 'bucket:b',
  metadata: [],
}

test('a fault while one command is decided fails that command and nothing else', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute({ kind: 'create-bucket', audit, bucket: 'b', region: 'r', lockEnabled: false })
  const put = (key: string, header: string) =>
    store.client.execute({
      kind: 'write-object',
      audit: { ...audit, resource: `bucket:b/${key}` },
      bucket: 'b',
      key,
      size: 0,
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
      digest: new Uint8Array(32),
      headers: ['content-type', header],
      metadata: [],
      body: { kind: 'empty' },
      condition: { kind: 'none' },
    })
  // No record has room for it, which no check before the engine should ever let through.
  const results = await Promise.allSettled([put('a', 'text/a'), put('b', 'x'.repeat(40_000)), put('c', 'text/c')])
  t.match(results, [
    { status: 'fulfilled' },
    { status: 'rejected', reason: { name: 'DomainError', code: 'command-failed', subject: /40\d\d\d bytes/ } },
    { status: 'fulfilled' },
  ])
  t.same(store.failures, [])
  const bucket = store.catalog.bucket('b')
  t.ok(store.catalog.object(bucket?.id ?? 0, 'a'))
  t.notOk(store.catalog.object(bucket?.id ?? 0, 'b'))
  t.ok(store.catalog.object(bucket?.id ?? 0, 'c'))
  await store.close(true)

  const outcomes: string[] = []
  readJournal(store.disk, store.paths, undefined, {
    record: ({ kind, body }) => {
      if (kind !== RECORD_KIND.change && kind !== RECORD_KIND.audit) return
      const entry = decodeEntry(body)
      if (entry.resource === 'bucket:b/b') outcomes.push(`${entry.result} ${entry.metadata.join(' ')}`.trim())
    },
    batch: () => undefined,
  })
  t.same(outcomes, ['attempted', 'failure error command-failed'])
})
