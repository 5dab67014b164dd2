/**
 * Makes the golden store of the kind of change that policies of buckets have:
 * `node build/spec/support/golden/make-bucket-policy-store.js DIRECTORY`. It was run once, and its store is never made again.
 */
import { auditOf, createBucket, write } from '../commands.ts'
import { openTestStore } from '../test-store.ts'
import { SETTINGS } from './golden-store.ts'
import { makeGolden } from './make-golden.ts'

const DENIAL =
  '{"Statement":{"Effect":"Deny","Principal":"*","Action":"s3:DeleteObject","Resource":"arn:aws:s3:::photos/*"}}'

async function fill(root: string): Promise<void> {
  let clock = Date.UTC(2026, 10, 30) * 1000
  const store = await openTestStore(root, { ...SETTINGS, clock: () => (clock += 1000) })
  const { client } = store
  const set = (bucket: string, document: string | undefined) =>
    client.execute({
      kind: 'set-bucket-policy',
      audit: auditOf('s3:PUT', `bucket:${bucket}`),
      bucket,
      document,
      accounts: [],
    })
  for (const bucket of ['photos', 'removed', 'deleted']) {
    await client.execute(createBucket(bucket))
    await set(bucket, DENIAL.replaceAll('photos', bucket))
  }
  await client.execute(write('photos', 'cat.jpg', Buffer.from('a cat')))
  await set('removed', undefined)
  await client.execute({ kind: 'delete-bucket', audit: auditOf('s3:DELETE', 'bucket:deleted'), bucket: 'deleted' })
  await client.execute(createBucket('deleted'))
  await store.close(true)
}

await makeGolden(process.argv[2] ?? '', ['bucket-policy.set'], fill)
