/** Golden journal of webhooks whose query is sealed. */
import { test } from 'tap'
import { WebhookReader } from '../../../projections/webhooks/reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { copyGolden, GOLDEN_JOURNALS, GOLDEN_MASTER_KEY, openGolden } from '../../support/journals/golden-journals.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { roomyDisk } from '../../support/test-store.ts'

test('golden journal 17: a sealed query, and attempts of a webhook that was disabled', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[16])
  t.match(await verifyAtRest(paths.journal, { masterKey: GOLDEN_MASTER_KEY }), { intact: true })
  t.match(askStranger(paths.journal), [/^intact 36 records/])
  const store = await openGolden(paths)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const reader = new WebhookReader(environment)
  t.match(reader.webhook('w9'), { enabled: false, sealedQuery: Buffer.from('query of w9') })
  t.match(reader.progress('w9'), { logged: 2 })
  t.equal(reader.webhook('w10')?.sealedQuery, undefined)
  await environment.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})
