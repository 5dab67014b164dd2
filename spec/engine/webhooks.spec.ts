/** Webhooks and their deliveries in the journal and in the tables. */
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import { sequenceOf } from '../../engine/brands.ts'
import type { Command } from '../../engine/commands/commands.ts'
import { DomainError } from '../../engine/errors.ts'
import { WebhookReader } from '../../projections/webhooks/reader.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { LOG_ROWS_MAXIMUM, newestLogged } from '../../projections/webhooks/tables.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { openTestStore, roomyDisk } from '../support/test-store.ts'
import {
  attemptOf,
  createWebhook,
  deleteWebhook,
  recordDeliveries,
  recordTest,
  replayWebhook,
  reportOf,
  rotateSecret,
  setWebhookStatus,
} from '../support/webhooks/webhook-commands.ts'

const WEBHOOKS_MAXIMUM = 100

async function openWebhooks(t: Test) {
  const root = temporaryDirectory()
  const store = await openTestStore(root)
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  t.teardown(async () => {
    await environment.close()
    await store.close(true)
    const { differences } = await checkProjections(roomyDisk, store.paths)
    if (differences.length > 0) throw new Error(`a rebuild gives other rows: ${JSON.stringify(differences)}`)
    rmSync(root, { recursive: true })
  })
  const run = async (command: Command): Promise<string> => {
    try {
      await store.client.execute(command)
      return 'done'
    } catch (error) {
      if (error instanceof DomainError) return error.code
      throw error
    }
  }
  const reader = new WebhookReader(environment)
  const startOf = (webhook: string) => reader.webhook(webhook)?.startSequence ?? sequenceOf(0)
  return { reader, run, startOf, root, store }
}

test('a webhook from its creation to its deletion', async (t) => {
  const { reader, run, startOf } = await openWebhooks(t)
  t.equal(await run(createWebhook('a')), 'done')
  t.equal(await run(createWebhook('a')), 'webhook-exists')
  t.match(reader.webhook('a'), { enabled: true, bucket: 'photos', prefix: '2026/', previousSecret: undefined })
  const created = startOf('a')
  t.match(reader.progress('a'), { line: { position: { sequence: created }, pending: [] }, replay: undefined })
  t.equal(await run(setWebhookStatus('a', true)), 'done')
  t.equal(startOf('a'), created, 'enabling what is enabled begins nothing anew')
  t.equal(await run(rotateSecret('a')), 'done')
  t.match(reader.webhook('a'), {
    sealedSecret: Buffer.from('new secret of a'),
    previousSecret: { sealedSecret: Buffer.from('secret of a') },
  })
  t.equal(await run(setWebhookStatus('a', false)), 'done')
  t.equal(await run(setWebhookStatus('a', true)), 'done')
  t.ok(startOf('a') > created, 'it gets the events after it was enabled')
  t.equal(await run(deleteWebhook('a')), 'done')
  t.equal(reader.webhook('a'), undefined)
  for (const command of [
    setWebhookStatus('a', true),
    deleteWebhook('a'),
    rotateSecret('a'),
    replayWebhook('a'),
    recordTest('a'),
  ]) {
    t.equal(await run(command), 'webhook-not-found', command.kind)
  }
})

test('there are a hundred webhooks at most', async (t) => {
  const { run } = await openWebhooks(t)
  for (let count = 0; count < WEBHOOKS_MAXIMUM; count += 1) await run(createWebhook(`w${count}`))
  t.equal(await run(createWebhook('one-more')), 'too-many-webhooks')
  await run(deleteWebhook('w7'))
  t.equal(await run(createWebhook('one-more')), 'done')
})

test('deliveries: what waits, what is tried again, what is over', async (t) => {
  const { reader, run, startOf } = await openWebhooks(t)
  await run(createWebhook('a'))
  const start = startOf('a')
  const waiting = [50, 51].map((sequence) => ({ sequence: sequenceOf(sequence), index: 0 }))
  await run(recordDeliveries(reportOf('a', start, 52, { waiting, attempts: [attemptOf(52, 1)] })))
  t.match(reader.progress('a')?.line, {
    position: { sequence: 52 },
    pending: [
      { event: { sequence: 50 }, attempts: 0 },
      { event: { sequence: 51 }, attempts: 0 },
    ],
  })
  const attempts = [attemptOf(50, 1, 'it failed', 7_000_000), attemptOf(51, 1)]
  await run(recordDeliveries(reportOf('a', start, 60, { attempts })))
  t.match(reader.progress('a')?.line.pending, [{ event: { sequence: 50 }, attempts: 1, nextMicroseconds: 7_000_000 }])
  await run(recordDeliveries(reportOf('a', start, 60, { attempts: [attemptOf(50, 2, 'x'.repeat(1000))] })))
  t.same(reader.progress('a')?.line.pending, [])
  const log = reader.log('a', 10)
  t.same(log.map(({ event, attempt }) => [event?.sequence, attempt]).toSorted(), [
    [50, 1],
    [50, 2],
    [51, 1],
    [52, 1],
  ])
  const [longest] = log.filter(({ attempt }) => attempt === 2)
  t.ok((longest?.error?.length ?? 0) < 400, 'what went wrong is bounded')
  await run(recordTest('a', 'refused'))
  t.match(
    reader.log(undefined, 10).find(({ kind }) => kind === 'test'),
    { testEvent: 'test-1', error: 'refused' },
  )
})

test('a report on what was dropped meanwhile changes nothing', async (t) => {
  const { reader, run, startOf } = await openWebhooks(t)
  await run(createWebhook('a'))
  const start = startOf('a')
  await run(setWebhookStatus('a', false))
  const late = recordDeliveries(reportOf('a', start, 70, { attempts: [attemptOf(70, 1, 'no', 9)] }))
  t.equal(await run(late), 'done')
  t.same(reader.progress('a')?.line.pending, [], 'disabled')
  await run(setWebhookStatus('a', true))
  t.equal(await run(late), 'done')
  t.same(reader.progress('a')?.line.pending, [], 'begun anew')
  await run(deleteWebhook('a'))
  t.equal(await run(late), 'done', 'deleted')
})

test('a replay, one at a time', async (t) => {
  const { reader, run, startOf } = await openWebhooks(t)
  await run(createWebhook('a'))
  const start = startOf('a')
  await run(setWebhookStatus('a', false))
  t.equal(await run(replayWebhook('a')), 'webhook-disabled')
  await run(setWebhookStatus('a', true))
  t.equal(await run(replayWebhook('a')), 'done')
  t.equal(await run(replayWebhook('a')), 'webhook-replaying')
  const replay = reader.progress('a')?.replay
  t.match(replay, { position: undefined, pending: [], sinceMicroseconds: 0 })
  const now = startOf('a')
  const part = { replay: replay?.replay, attempts: [attemptOf(5, 1, 'no', 9)] }
  await run(recordDeliveries(reportOf('a', start, 5, part)))
  t.same(reader.progress('a')?.replay?.pending, [], 'a report of before it was enabled anew')
  await run(recordDeliveries(reportOf('a', now, 5, part)))
  t.equal(reader.progress('a')?.replay?.pending.length, 1)
  await run(
    recordDeliveries(reportOf('a', now, 6, { replay: replay?.replay, attempts: [attemptOf(5, 2)], isOver: true })),
  )
  t.equal(reader.progress('a')?.replay, undefined)
  t.match(reader.log('a', 1), [{ kind: 'replay' }])
  await run(replayWebhook('a'))
  await run(setWebhookStatus('a', false))
  t.equal(reader.progress('a')?.replay, undefined, 'a disabled webhook drops it')
})

test('the log keeps the last thousand attempts of a webhook', async (t) => {
  const { reader, run, startOf } = await openWebhooks(t)
  await run(createWebhook('a'))
  const start = startOf('a')
  for (let first = 0; first < LOG_ROWS_MAXIMUM + 200; first += 200) {
    const attempts = Array.from({ length: 200 }, (_, index) => attemptOf(first + index, 1))
    await run(recordDeliveries(reportOf('a', start, first, { attempts })))
  }
  const sequences = reader.log('a', LOG_ROWS_MAXIMUM + 1).map(({ event }) => Number(event?.sequence))
  t.equal(sequences.length, LOG_ROWS_MAXIMUM)
  t.equal(Math.min(...sequences), 200)
  await run(deleteWebhook('a'))
  t.same(reader.log(undefined, 10), [], 'it goes with the webhook')
})

test('the log of all webhooks is in the order of time, and no more rows are read than are shown', async (t) => {
  const { store, reader, run, startOf } = await openWebhooks(t)
  for (const webhook of ['a', 'b', 'c']) {
    await run(createWebhook(webhook))
    const numbers = webhook === 'a' ? [1, 4, 7] : webhook === 'b' ? [2, 3, 9] : [5, 6, 8]
    const attempts = numbers.map((number) => attemptOf(100, number))
    await run(recordDeliveries(reportOf(webhook, startOf(webhook), 200, { attempts })))
  }
  const shown = (limit: number) => reader.log(undefined, limit).map(({ webhook, attempt }) => `${webhook}${attempt}`)
  t.same(shown(4), ['b9', 'c8', 'a7', 'c6'])
  t.same(shown(100), ['b9', 'c8', 'a7', 'c6', 'c5', 'a4', 'b3', 'b2', 'a1'])
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const { webhookLog } = openTables(environment)
  let reads = 0
  const counted = { get: (key: Buffer) => ((reads += 1), webhookLog.get(key)) } as unknown as typeof webhookLog
  newestLogged(counted, 'a', 3).next()
  t.equal(reads, 1)
  await environment.close()
})

test('records of webhooks have old and new values, and neither secrets nor what may be a password in a target', async (t) => {
  const { run, store, root } = await openWebhooks(t)
  await run(createWebhook('a'))
  await run(setWebhookStatus('a', false))
  await run(rotateSecret('a'))
  await run(deleteWebhook('a'))
  await store.loop.drained()
  const told = journalEntries(root).map(({ metadata }) => JSON.stringify(metadata))
  const outcomes = told.filter((text) => text.includes('webhook_status') || text.includes('target_url'))
  t.ok(outcomes[0]?.includes('"target_url","https://receiver.example/a?..."'))
  t.ok(outcomes[0]?.includes('"webhook_status","enabled"'))
  t.ok(outcomes.some((text) => text.includes('"webhook_status","disabled","webhook_status_before","enabled"')))
  t.ok(outcomes.at(-1)?.includes('"webhook_status","deleted","webhook_status_before","disabled"'))
  t.ok(outcomes.at(-1)?.includes('"bucket_filter","none","bucket_filter_before","photos"'))
  t.notOk(told.some((text) => text.includes('query of') || text.includes('secret of')))
})
