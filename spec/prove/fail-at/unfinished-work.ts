/** What the workers of a server go on with after a start, and what must have come of it in the end. */
import { isDeepStrictEqual } from 'node:util'
import { WebhookReader } from '../../../projections/webhooks/reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { everythingDue } from '../../model/naive-lifecycle.ts'
import type { ClientLedger } from '../../support/dying-servers/client-ledger.ts'
import { deliverAll, type EventReceiver } from '../../support/webhooks/event-receiver.ts'
import { DAY, runPass } from '../../support/lifecycle.ts'
import type { TestStore } from '../../support/test-store.ts'

interface Found {
  readonly lost: string[]
  readonly wrong: string[]
}

/** What a pass had begun the next one ends: nothing that is due is left, and nothing else has gone. */
export async function finishPass(store: TestStore, ledger: ClientLedger, { lost, wrong }: Found): Promise<void> {
  const { now, state } = ledger
  if (![...state.buckets.values()].some(({ rules }) => rules.size > 0)) return
  await runPass(store, { now, engine: ledger.accounting(store.client) })
  lost.push(...(await ledger.check(store)))
  for (const { bucket, key } of everythingDue(state, now)) wrong.push(`${bucket}/${key} is due and was left`)
}

/** What was on its way arrives: all of it, and each event under the id that its entry gives it. */
export async function finishDeliveries(
  store: TestStore,
  { now, state }: ClientLedger,
  receiver: EventReceiver,
  { lost, wrong }: Found,
): Promise<void> {
  const stored = await webhooksOf(store)
  const known = [...state.webhooks].map(([id, { enabled, start }]) => [id, enabled, start]).toSorted()
  if (!isDeepStrictEqual(stored, known))
    lost.push(`webhooks: ${JSON.stringify(stored)} instead of ${JSON.stringify(known)}`)
  if (known.length === 0) return
  await deliverAll(store, receiver, { now: now + DAY, told: (error) => wrong.push(`deliveries: ${String(error)}`) })
  lost.push(...receiver.missing(state))
  wrong.push(...receiver.strangers(state))
}

/** Id, whether it is enabled, and after which entry its events begin. */
async function webhooksOf({ paths }: TestStore): Promise<unknown[]> {
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const webhooks = new WebhookReader(environment).webhooks()
  await environment.close()
  return webhooks.map(({ webhook, enabled, startSequence }) => [webhook, enabled, startSequence])
}
