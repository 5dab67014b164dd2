/** Golden journals of what the extensions of S3 write. */
import { test } from 'tap'
import { bucketIdOf } from '../../engine/brands.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { copyGolden, GOLDEN_JOURNALS, GOLDEN_MASTER_KEY, openGolden } from '../support/golden-journals.ts'
import { askStranger, verifyAtRest } from '../support/journal-verdicts.ts'
import { roomyDisk } from '../support/test-store.ts'

test('golden journal 10: renames, with and without a token', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[9])
  t.match(await verifyAtRest(paths.journal, { masterKey: GOLDEN_MASTER_KEY }), { intact: true })
  t.match(askStranger(paths.journal), [/^intact 156 records/])
  const store = await openGolden(paths)
  const snapshot = store.catalog.snapshot()
  const { id = bucketIdOf(0) } = snapshot.bucket('renames') ?? {}
  t.match(snapshot.bucketUsage(id), { objects: 2, bytes: 5 })
  const [over, empty] = ['over', 'dir/empty'].map((key) => snapshot.object(id, key))
  t.match(over, { headers: ['content-type', 'text/plain'], renamed: { token: 'token-of-the-client', key: 'b' } })
  t.match(empty, { payload: undefined, renamed: { token: 'x'.repeat(64), key: 'empty' } })
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})
