/**
 * A pass over the lifecycle rules is in the log of the server, with its counts.
 * Proves: API-RUL-13.
 */
import { test } from 'tap'
import { lifecycleWorker } from '../../cli/lifecycle/start.ts'
import type { Config } from '../../cli/config/config-types.ts'
import type { Logger } from '../../cli/server/log/logger.ts'
import type { StoreSession } from '../../cli/server/store/store-session.ts'
import { createBucket, write } from '../support/commands.ts'
import { createRule, DAY } from '../support/lifecycle.ts'
import { openTestStore } from '../support/test-store.ts'

test('a pass that looked at anything is one line, and one that found nothing is none', async (t) => {
  let now = Date.now() - 2 * DAY
  const store = await openTestStore(t.testdir(), { clock: () => now * 1000 })
  for (const command of [
    createBucket('b'),
    createRule('b', 'r', { expirationDays: 1 }),
    write('b', 'one', Buffer.from('x')),
    write('b', 'two', Buffer.from('x')),
  ])
    await store.client.execute(command)
  now = Date.now()
  const lines: [counts: object, message: string][] = []
  const log = { info: (...line: [object, string]) => lines.push(line) } as unknown as Logger
  const session = { engine: store.client, catalog: store.catalog } as unknown as StoreSession
  const config = { 'lifecycle.interval_seconds': 1, 'lifecycle.batch_size': 100 } as Config
  const worker = lifecycleWorker(log, session, config)
  const passes = async (count: number) => {
    let ended = worker.lastPass?.endedMilliseconds
    for (let seen = 0; seen < count; ) {
      if ((await worker.step()) === 'idle') await new Promise((resolve) => setTimeout(resolve, 20))
      if (worker.lastPass?.endedMilliseconds !== ended) seen += 1
      ended = worker.lastPass?.endedMilliseconds
    }
  }
  await passes(2)
  t.same(lines, [
    [{ worker: 'lifecycle', scanned: 2, expired: 2, skipped: 0, failed: 0 }, 'a lifecycle pass is complete'],
  ])
  await store.close(true)
})
