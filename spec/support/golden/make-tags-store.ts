/**
 * Makes the golden store of the kinds of change that tags have: `node build/spec/support/golden/make-tags-store.js DIRECTORY`.
 * It was run once, and its store is never made again.
 */
import * as objects from '../commands.ts'
import { openTestStore } from '../test-store.ts'
import * as uploads from '../upload-commands.ts'
import * as versions from '../version-commands.ts'
import { SETTINGS } from './golden-store.ts'
import { makeGolden } from './make-golden.ts'

const KINDS = ['version.tagged', 'upload.tagged', 'bucket.tagged']
const TAGS = ['team', 'storage', ' Größe_1.2:/=+-@', '']

async function fill(root: string): Promise<void> {
  let clock = Date.UTC(2026, 10, 29) * 1000
  const store = await openTestStore(root, { ...SETTINGS, clock: () => (clock += 1000) })
  const { client } = store
  await client.execute(objects.createBucket('photos'))
  await client.execute(versions.setBucketTags('photos', TAGS))
  await client.execute({ ...objects.write('photos', 'born', Buffer.from('with tags')), tags: TAGS })
  const { sequence } = await client.execute(objects.write('photos', 'cat.jpg', Buffer.from('a cat')))
  await client.execute(versions.setTags('photos', 'cat.jpg', TAGS))
  await client.execute(
    objects.copyObject({ bucket: 'photos', key: 'cat.jpg', sequence }, { bucket: 'photos', key: 'copy' }),
  )
  await client.execute(versions.setTags('photos', 'cat.jpg', []))
  await client.execute(objects.createBucket('versions'))
  await client.execute(versions.setVersioning('versions', 'enabled'))
  const first = await client.execute(objects.write('versions', 'key', Buffer.from('first')))
  await client.execute(objects.write('versions', 'key', Buffer.from('second')))
  await client.execute(versions.setTags('versions', 'key', TAGS, first.sequence))
  for (const key of ['parts', 'left']) {
    const made = await client.execute({ ...uploads.createUpload('photos', key), tags: TAGS })
    const name = { bucket: 'photos', key, upload: made.sequence }
    const part = Buffer.from('the only part')
    await client.execute(uploads.writePart(name, 1, part))
    if (key === 'parts') await client.execute(uploads.completeUpload(name, [{ part: 1, etag: objects.md5Of(part) }]))
  }
  await store.close(true)
}

await makeGolden(process.argv[2] ?? '', KINDS, fill)
