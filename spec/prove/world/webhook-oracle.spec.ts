import { createHmac } from 'node:crypto'
import { test } from 'tap'
import type { JournalEntry } from '../../support/journal-entries.ts'
import type { StorageEvent } from '../../support/storage-events.ts'
import type { Arrival, Gap } from './receivers.ts'
import { webhookProblem } from './webhook-oracle.ts'

const TARGET = 'http://127.0.0.1:1/1'
const [SECRET, NEXT_SECRET] = [secretOf('a'), secretOf('b')]
const CREATED = entry(1, {
  name: 'webhook.created',
  webhook: 'wh-1',
  target: TARGET,
  eventTypes: ['object.created'],
  bucket: 'b',
  prefix: undefined,
  enabled: true,
  sealedSecret: Buffer.of(),
  sealedQuery: undefined,
})
const EVENT: StorageEvent = {
  id: '0000000000000005-0000',
  type: 'object.created',
  time: '2030-01-01T00:00:00.000001Z',
  bucket: 'b',
  object: 'k',
  metadata: {},
}
const AT = Date.parse('2030-01-01') * 1000 + 1
const DELIVERED = entry(6, deliveredOf({}))
const ROTATED = entry(2, {
  name: 'webhook.secret-rotated',
  webhook: 'wh-1',
  sealedSecret: Buffer.of(),
  previousUntilMicroseconds: AT,
})
const TOLD = { webhook: 'wh-1', secret: SECRET, moment: 1 }
const TOLD_NEXT = { webhook: 'wh-1', secret: NEXT_SECRET, moment: 2 }

function secretOf(letter: string): string {
  return `whsec_${Buffer.alloc(32, letter).toString('base64')}`
}

function entry(sequence: number, change: unknown): JournalEntry {
  return { sequence, changes: [change] } as unknown as JournalEntry
}

function deliveredOf(more: object, attempt: object = {}) {
  const attempts = [{ event: { sequence: 5, index: 0 }, attempt: 1, error: undefined, ...attempt }]
  return { name: 'webhook.delivered', webhook: 'wh-1', replay: undefined, attempts, ...more }
}

function arrivalOf(event: StorageEvent, secrets: readonly string[], more: Partial<Arrival> = {}): Arrival {
  const body = Buffer.from(JSON.stringify(event))
  const plain = createHmac('sha256', secrets[0] ?? '')
    .update(body)
    .digest('hex')
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${event.id}.7.`).update(body).digest('base64')}`
  })
  const headers = {
    'webhook-id': event.id,
    'ce-id': event.id,
    'x-object-store-event-id': event.id,
    'webhook-timestamp': '7',
    'x-object-store-signature': `sha256=${plain}`,
    'webhook-signature': standard.join(' '),
  }
  return { target: TARGET, headers, body, moment: 5, clock: 0, life: 1, isTaken: true, ...more }
}

const TAKEN = arrivalOf(EVENT, [SECRET])

function found(
  entries: readonly JournalEntry[],
  arrivals: readonly Arrival[],
  more: {
    readonly deletions?: ReadonlyMap<string, number>
    readonly secrets?: readonly (typeof TOLD)[]
    readonly gaps?: readonly Gap[]
    readonly orderly?: readonly number[]
  } = {},
): string | undefined {
  const { deletions = new Map<string, number>(), secrets = [TOLD], gaps = [], orderly = [] } = more
  const receivers = {
    arrivals: [...arrivals],
    secrets: [...secrets],
    deletions: new Map(deletions),
    gaps: [...gaps],
  }
  return webhookProblem(entries, [EVENT], receivers, new Set(orderly))
}

test('every event that is wanted has an end, and a success is one that the receiver gave', (t) => {
  t.equal(found([CREATED, DELIVERED], [TAKEN]), undefined)
  t.match(found([CREATED], [TAKEN]), /event 0000000000000005-0000 was neither delivered nor given up/)
  t.match(found([CREATED, DELIVERED], []), /1 successes of event .*, and its receiver 0/)
  const twice = [TAKEN, TAKEN]
  t.equal(found([CREATED, DELIVERED], twice), undefined, 'a sudden end may take a report with it')
  t.match(
    found([CREATED, DELIVERED], twice, { orderly: [1] }),
    /took event .* 2 times, and the journal has 1 successes/,
  )
  const gap = { webhook: 'wh-1', after: 4, through: 5 }
  t.equal(found([CREATED], [], { gaps: [gap] }), undefined, 'it could not be read')
  t.match(found([CREATED], [], { gaps: [{ ...gap, after: 5, through: 9 }] }), /neither delivered nor given up/)
  const failed = { error: 'the target answered 500' }
  t.equal(found([CREATED, entry(6, deliveredOf({}, failed))], []), undefined, 'it was given up')
  const again = { ...failed, nextMicroseconds: 1 }
  t.match(found([CREATED, entry(6, deliveredOf({}, again))], []), /neither delivered nor given up/, 'it is pending')
  const disabled = entry(7, { name: 'webhook.status-set', webhook: 'wh-1', enabled: false })
  t.equal(found([CREATED, disabled], []), undefined, 'what was pending is dropped')
  const enabled = entry(8, { name: 'webhook.status-set', webhook: 'wh-1', enabled: true })
  t.equal(found([CREATED, disabled, enabled], []), undefined, 'it starts with what comes later')
  const replay = { name: 'webhook.replayed', webhook: 'wh-1', sinceMicroseconds: AT, untilMicroseconds: AT + 1 }
  t.match(found([CREATED, DELIVERED, entry(7, replay)], [TAKEN]), /replay 7 leaves event 0000000000000005-0000 out/)
  const replayed = entry(8, deliveredOf({ replay: 7 }))
  t.equal(found([CREATED, DELIVERED, entry(7, replay), replayed], [TAKEN, TAKEN]), undefined)
  t.equal(
    found([CREATED, DELIVERED, entry(7, { ...replay, untilMicroseconds: AT })], [TAKEN]),
    undefined,
    'the end is not in it',
  )
  t.end()
})

test('what arrives happened, is wanted, and comes before the deletion', (t) => {
  const all = [CREATED, DELIVERED]
  const other = (more: Partial<StorageEvent>) => [TAKEN, arrivalOf({ ...EVENT, ...more }, [SECRET])]
  t.match(found(all, other({ id: '0000000000000004-0000' })), /never happened/)
  t.match(found(all, other({ object: 'other' })), /is not what clients see/)
  t.match(found([{ ...CREATED, sequence: 5 }, DELIVERED], [TAKEN]), /happened before it was created/)
  t.match(found([entry(1, { ...CREATED.changes[0], bucket: 'c' }), DELIVERED], [TAKEN]), /nothing that it wants/)
  t.match(found(all, [{ ...TAKEN, target: 'http://127.0.0.1:1/2' }]), /is of no webhook/)
  t.match(found(all, [TAKEN], { deletions: new Map([['wh-1', 4]]) }), /after its deletion was answered/)
  t.equal(found(all, [TAKEN], { deletions: new Map([['wh-1', 6]]) }), undefined)
  const made = arrivalOf({ ...EVENT, id: 'test-1' }, [SECRET])
  const tested = { ...made, headers: { ...made.headers, 'x-object-store-test': 'true' } }
  t.match(found(all, [TAKEN, tested]), /a test without a record/)
  t.equal(
    found([...all, entry(7, { name: 'webhook.tested', webhook: 'wh-1', event: 'test-1' })], [TAKEN, tested]),
    undefined,
  )
  t.end()
})

test('signatures are by the newest secret, and for a day by the one before too', (t) => {
  const all = [CREATED, ROTATED, DELIVERED]
  const secrets = [TOLD, TOLD_NEXT]
  const late = { clock: AT / 1000 + 1 }
  t.equal(found(all, [arrivalOf(EVENT, [NEXT_SECRET, SECRET])], { secrets }), undefined)
  t.equal(found(all, [arrivalOf(EVENT, [NEXT_SECRET], late)], { secrets }), undefined, 'the day is over')
  t.match(found(all, [arrivalOf(EVENT, [NEXT_SECRET, SECRET], late)], { secrets }), /has 2 signatures, not 1/)
  t.match(found(all, [arrivalOf(EVENT, [NEXT_SECRET])], { secrets }), /has 1 signatures, not 2/)
  t.match(found(all, [arrivalOf(EVENT, [SECRET])], { secrets }), /another secret than the newest/)
  t.equal(
    found(all, [arrivalOf(EVENT, [SECRET], { moment: 2 })], { secrets }),
    undefined,
    'nobody was told another yet',
  )
  t.match(found(all, [arrivalOf(EVENT, [secretOf('c')])], { secrets }), /another secret than the newest/)
  t.equal(
    found(all, [arrivalOf(EVENT, [secretOf('c')])], { secrets: [] }),
    undefined,
    'its creation was never answered',
  )
  const standard = arrivalOf(EVENT, [NEXT_SECRET, SECRET])
  const forged = { ...standard, headers: { ...standard.headers, 'webhook-signature': 'v1,AA==' } }
  t.match(found(all, [forged], { secrets }), /another signature of Standard Webhooks/)
  t.end()
})
