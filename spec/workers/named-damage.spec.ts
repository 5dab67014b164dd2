/** Damage that workers meet is named by bucket and key. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'tap'
import { bucketIdOf, sequenceOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { inBrackets, namesOfPayloads } from '../../projections/catalog/payload-names.ts'
import { targetOfRow } from '../../projections/row-target.ts'
import { orderedRowKey } from '../../projections/tables/version-keys.ts'
import { VolumePass } from '../../workers/volume-pass.ts'
import { copyObject, createBucket, write } from '../support/commands.ts'
import { openTestStore } from '../support/test-store.ts'

test('a payload that compaction finds damaged', async (t) => {
  const store = await openTestStore(t.testdir(), { segmentBytes: 1 << 20, volumeBytes: 4096 })
  const { sequence: id } = await store.client.execute(createBucket('photos'))
  for (const key of ['a', 'b', 'c']) await store.client.execute(write('photos', key, Buffer.alloc(1500, key)))
  const { payload, sequence } = store.catalog.snapshot().object(bucketIdOf(id), 'a') ?? {}
  if (payload === undefined || sequence === undefined) throw new Error('there is no payload')
  await store.client.execute(copyObject({ bucket: 'photos', key: 'a', sequence }, { bucket: 'photos', key: 'copy' }))
  const names = await namesOfPayloads(store.catalog, [payload])
  t.same([...names], [[payload, ['photos/a', 'photos/copy']]])
  const location = store.catalog.snapshot().payload(payload)
  if (location?.kind !== 'volume') throw new Error('it is in no volume')
  const path = store.paths.volume(location.volume)
  const bytes = readFileSync(path)
  bytes[location.offset + 10] = 0
  chmodSync(path, 0o600)
  writeFileSync(path, bytes)
  const [volume] = store.catalog.snapshot().volumes()
  if (volume === undefined) throw new Error('there is no volume')
  const pass = new VolumePass(nodeDisk, store.paths, store.client, store.catalog, volume)
  await t.rejects(pass.step(), {
    message: `payload ${payload} (photos/a, photos/copy) in volume 0, offset ${location.offset}, is damaged and stays there`,
  })
  await pass.close()
  await store.close(true)
})

test('names of no payload, and of none that is stored', async (t) => {
  const store = await openTestStore(t.testdir())
  t.same([...(await namesOfPayloads(store.catalog, []))], [])
  t.equal(inBrackets(undefined), '')
  t.equal(inBrackets([]), '')
  await store.close(true)
})

test('the object that a row is of', (t) => {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(7n)
  const object = Buffer.concat([number, Buffer.from('2026/cat.jpg')]).toString('hex')
  t.same(targetOfRow('objects', object), { bucketId: 7, key: '2026/cat.jpg' })
  for (const table of ['versions', 'locks', 'uploads']) {
    const row = orderedRowKey(bucketIdOf(7), 'a\u0000b', sequenceOf(3)).toString('hex')
    t.same(targetOfRow(table, row), { bucketId: 7, key: 'a\u0000b' }, table)
  }
  for (const [table, row] of [
    ['buckets', object],
    ['objects', '00'],
  ] as const) {
    t.equal(targetOfRow(table, row), undefined, `${table} ${row}`)
  }
  t.end()
})
