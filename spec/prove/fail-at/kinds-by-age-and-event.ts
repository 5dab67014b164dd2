/** What a store does by age, for webhooks and for links, kind by kind. */
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { EVENT_TYPES } from '../../../engine/events/values.ts'
import { createBucket, deleteObject, write } from '../../support/commands.ts'
import { deliverAll } from '../../support/webhooks/event-receiver.ts'
import { createRule, DAY, deleteRule, replaceRule, runPass } from '../../support/lifecycle.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import * as links from '../../support/sharing-commands.ts'
import { setLegalHold } from '../../support/version-commands.ts'
import * as webhooks from '../../support/webhooks/webhook-commands.ts'
import type { KindOfWork } from './kinds-of-work.ts'
import type { Life } from './life.ts'

const opened = { ready: async () => undefined } as const
const BYTES = sampleBytes(300, 3)

/** Objects, noncurrent versions and a locked one, all of which come due; and objects that a rule does not reach. */
async function age(life: Life): Promise<void> {
  await life.send({ ...createBucket('aging'), lockEnabled: true })
  for (const key of ['held', 'free', 'free', 'free']) await life.send(write('aging', key, BYTES))
  const held = life.ledger.state.buckets.get('aging')?.keys.get('held')?.[0]?.sequence
  await life.send(setLegalHold('aging', 'held', true, sequenceOf(held ?? 0)))
  for (const key of ['held', 'free']) await life.send(deleteObject('aging', key))
  await life.send(createRule('aging', 'versions', { noncurrentDays: 1, expirationDays: 2 }))
  for (const key of ['old/1', 'old/2', 'other']) await life.send(write('kept', key, BYTES))
  await life.send(createRule('kept', 'objects', { prefix: 'old/', expirationDays: 1 }))
}

async function share(life: Life): Promise<void> {
  await life.send(write('kept', 'shared', BYTES))
  await life.send(links.createShare('thrice', { bucket: 'kept', key: 'shared', maximumDownloads: 3 }))
  await life.send(links.countDownload('thrice'))
  await life.send(links.createEmbed('embed', { bucket: 'kept', key: 'shared' }))
}

async function subscribe(life: Life): Promise<void> {
  const everything = { bucket: undefined, prefix: undefined, eventTypes: EVENT_TYPES }
  await life.send(webhooks.createWebhook('all', everything))
  await life.send(webhooks.createWebhook('some', { ...everything, bucket: 'kept', prefix: 'new' }))
  for (const key of ['new/1', 'new/1', 'other']) await life.send(write('kept', key, BYTES))
  await life.send(deleteObject('versions', 'key'))
}

async function deliver(life: Life): Promise<void> {
  const { store, receiver, ledger, client: engine } = life
  await deliverAll(store, receiver, { now: ledger.now, engine, told: (error) => life.told(error) })
}

const everything = { untilMicroseconds: microsecondsOf(9e15) }

export const AGING_WEBHOOKS_AND_LINKS: readonly KindOfWork[] = [
  { name: 'lifecycle rule', ...opened, work: (life) => life.send(createRule('kept', 'rule', { expirationDays: 1 })) },
  {
    name: 'lifecycle rule replaced and removed',
    setUp: age,
    ...opened,
    work: async (life) => {
      await life.send(replaceRule('kept', 'objects', { prefix: 'o', expirationDays: 2 }))
      await life.send(deleteRule('versions'))
    },
  },
  {
    name: 'lifecycle pages',
    setUp: age,
    ...opened,
    later: 3 * DAY,
    work: (life) => runPass(life.store, { now: life.ledger.now, engine: life.client }),
  },
  {
    name: 'shares and embeds',
    setUp: share,
    ...opened,
    work: async (life) => {
      await life.send(links.createShare('new', { bucket: 'kept', key: 'shared' }))
      await life.send(links.updateEmbed('embed'))
      await life.send(links.deleteEmbed('embed'))
    },
  },
  {
    name: 'downloads, and a share revoked',
    setUp: share,
    ...opened,
    work: async (life) => {
      await life.send(links.countDownload('thrice'))
      await life.send(links.countDownload('thrice'))
      await life.send(links.revokeShare('thrice'))
    },
  },
  { name: 'webhook', ...opened, work: (life) => life.send(webhooks.createWebhook('new')) },
  {
    name: 'webhook disabled and enabled',
    setUp: subscribe,
    ...opened,
    work: async (life) => {
      await life.send(webhooks.setWebhookStatus('all', false))
      await life.send(webhooks.setWebhookStatus('all', true))
    },
  },
  { name: 'webhook deleted', setUp: subscribe, ...opened, work: (life) => life.send(webhooks.deleteWebhook('all')) },
  { name: 'secret rotated', setUp: subscribe, ...opened, work: (life) => life.send(webhooks.rotateSecret('all')) },
  { name: 'deliveries', setUp: subscribe, ...opened, work: deliver },
  {
    name: 'replay',
    setUp: subscribe,
    ready: deliver,
    work: async (life) => {
      await life.send({ ...webhooks.replayWebhook('all'), ...everything })
      await deliver(life)
    },
  },
]
