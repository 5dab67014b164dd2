/** That the model finds what it is there to find: stores with a fault each, and ledgers and answers that contradict. */
import * as fc from 'fast-check'
import { test } from 'tap'
import type { WireAnswer } from '../support/wire-client.ts'
import { copyObject, createBucket as createBucketCommand, deleteObject, write } from '../support/commands.ts'
import { createRule, DAY } from '../support/lifecycle.ts'
import { setVersioning } from '../support/version-commands.ts'
import { contentOf } from './content.ts'
import { type ModelRequest, mismatch, type Moment } from './expectation.ts'
import { FAULTS, FaultyStore } from './faulty-store.ts'
import { LockLedger } from './lock-ledger.ts'
import { FIRST_CLOCK, Tally } from './model.ts'
import { everythingDue } from './naive-lifecycle.ts'
import { ModelRules } from './rules.ts'
import { ModelState } from './state.ts'
import { deleteObjects } from './operations/batch-deletions.ts'
import { createBucket } from './operations/buckets.ts'
import { putObject } from './operations/writes.ts'
import { runSequence } from './run-sequences.ts'
import { type Exchange, settle } from './settle.ts'
import { stepOf } from './step-mix.ts'
import { ThreadStore } from './thread-store.ts'

/** Each fault is found within so many sequences; on average within five. */
const SEQUENCES_MAXIMUM = 150
const MOMENT: Moment = { clock: FIRST_CLOCK, now: FIRST_CLOCK, clockIsBehind: false }

for (const fault of FAULTS) {
  const faulty = async (directory: string) => new FaultyStore(await ThreadStore.open(directory), fault)
  test(`the model finds it when ${fault.name}`, async (t) => {
    t.setTimeout(0)
    const steps = fc.commands([stepOf({ disturbance: 'cut', restarts: 1, works: 1, clockSteps: 8, passes: 2 })], {
      maxCommands: 100,
      size: 'max',
    })
    const property = fc.asyncProperty(steps, (sequence) => runSequence(faulty, sequence, new Tally()))
    const details = await fc.check(property, { seed: 1, numRuns: SEQUENCES_MAXIMUM, endOnFailure: true })
    t.ok(details.failed, `after ${details.numRuns} sequences: ${String(details.errorInstance).slice(0, 200)}`)
  })
}

function answerOf(status: number, headers: Record<string, string> = {}, body = ''): WireAnswer {
  const all = { 'x-amz-request-id': '1', ...headers }
  return { status, headers: all, body: Buffer.from(body), text: body, complete: true, code: undefined }
}

const VERSION: ModelRequest = { method: 'GET', target: '/locked/a?versionId=1' }
const LOCKED = {
  'x-amz-object-lock-mode': 'COMPLIANCE',
  'x-amz-object-lock-retain-until-date': '2031-01-01T00:00:00.000Z',
}

const read =
  (ledger: LockLedger, answer: WireAnswer, now = FIRST_CLOCK) =>
  () =>
    ledger.saw(VERSION, answer, now)

const compare =
  (ledger: LockLedger, now = FIRST_CLOCK) =>
  () => {
    ledger.beginComparison()
    ledger.endComparison(now)
  }

test('the ledger misses a locked version, and sees that it changed', async (t) => {
  const ledgerWith = (headers: Record<string, string>) => {
    const ledger = new LockLedger()
    ledger.beginComparison()
    ledger.saw(VERSION, answerOf(200, headers, 'bytes'), FIRST_CLOCK)
    ledger.endComparison(FIRST_CLOCK)
    return ledger
  }
  t.throws(compare(ledgerWith(LOCKED)), /not there/)
  t.throws(read(ledgerWith(LOCKED), answerOf(404)), /answered 404/)
  t.throws(read(ledgerWith(LOCKED), answerOf(200, LOCKED, 'other')), /other bytes/)
  t.throws(read(ledgerWith(LOCKED), answerOf(200, {}, 'bytes')), /weakened/)
  t.doesNotThrow(read(ledgerWith(LOCKED), answerOf(404), Date.UTC(2031, 0, 1)), 'its time has passed')
  const held = ledgerWith({ 'x-amz-object-lock-legal-hold': 'ON' })
  t.throws(compare(held, Date.UTC(2999, 0, 1)), /not there/, 'a hold has no end')
  const lift: ModelRequest = { method: 'PUT', target: '/locked/a?legal-hold&versionId=1', body: '<Status>OFF</Status>' }
  held.saw(lift, answerOf(200), FIRST_CLOCK)
  t.doesNotThrow(compare(held), 'it was lifted')
})

/** A world with the bucket `plain`. */
function worlds(): ModelState[] {
  return settle(
    [new ModelState()],
    [{ operation: createBucket('plain', false), answer: answerOf(200, { location: '/plain' }) }],
    MOMENT,
  )
}

function put(seed: number, condition: 'none' | 'absent', isAnswered: number | undefined): Exchange {
  const content = contentOf(seed, 11)
  const operation = putObject({
    bucket: 'plain',
    key: 'a',
    content,
    headers: [],
    lock: {},
    condition: { kind: condition },
  })
  if (isAnswered === undefined) return { operation, answer: undefined }
  return {
    operation,
    answer: {
      ...answerOf(isAnswered, { etag: `"${content.md5}"` }),
      code: isAnswered === 412 ? 'PreconditionFailed' : undefined,
    },
  }
}

test('requests at the same time are explained by any order, and by nothing else', async (t) => {
  const [, ...nothing] = worlds()
  t.same(nothing, [])
  t.equal(settle(worlds(), [put(1, 'none', 200), put(2, 'none', 200)], MOMENT).length, 2, 'either was the last')
  t.equal(settle(worlds(), [put(1, 'absent', 200), put(2, 'absent', 412)], MOMENT).length, 1, 'one had to be the first')
  t.throws(() => settle(worlds(), [put(1, 'absent', 200), put(2, 'absent', 200)], MOMENT), {
    name: 'ContradictionError',
  })
  t.throws(() => settle(worlds(), [put(1, 'absent', 412)], MOMENT), { name: 'ContradictionError' })
  t.equal(settle(worlds(), [put(1, 'none', undefined)], MOMENT).length, 2, 'it has happened or not')
  t.equal(settle(worlds(), [put(1, 'none', undefined), put(2, 'absent', 412)], MOMENT).length, 1, 'it has happened')
  t.equal(
    settle(worlds(), [put(1, 'none', undefined), put(2, 'absent', 200)], MOMENT).length,
    2,
    'after it, or not at all',
  )
})

test('a request may come between the keys of a batch of deletions, and their order stays', async (t) => {
  const stored = settle(worlds(), [put(1, 'none', 200)], MOMENT)
  const twice: Exchange = {
    operation: deleteObjects({
      bucket: 'plain',
      deletions: [
        { key: 'a', condition: { kind: 'matches', etags: [contentOf(1, 11).md5] } },
        { key: 'a', condition: { kind: 'matches', etags: [contentOf(2, 11).md5] } },
      ],
      bypasses: false,
    }),
    answer: answerOf(200, {}, `<DeleteResult>${'<Deleted><Key>a</Key></Deleted>'.repeat(2)}</DeleteResult>`),
  }
  const after = settle(stored, [twice, put(2, 'absent', 200)], MOMENT)
  const types = after.map(({ events }) => events.slice(-3).map(({ type }) => type))
  t.same(types, [
    ['object.created', 'object.deleted', 'object.created'],
    ['object.deleted', 'object.created', 'object.deleted'],
  ])
  t.equal(settle(stored, [twice], MOMENT).length, 1)
})

test('an answer must be what the pattern says', async (t) => {
  const pattern = { status: 200, headers: { a: '1', b: undefined, c: (value: string | undefined) => value !== 'x' } }
  t.equal(mismatch(pattern, 'GET', answerOf(200, { a: '1' })), undefined)
  t.match(mismatch(pattern, 'GET', answerOf(404, { a: '1' })), /404/)
  t.match(mismatch(pattern, 'GET', answerOf(200, { a: '2' })), /a: 2 instead of 1/)
  t.match(mismatch(pattern, 'GET', answerOf(200, { a: '1', b: '' })), /b:/)
  t.match(mismatch(pattern, 'GET', answerOf(200, { a: '1', c: 'x' })), /c: x is wrong/)
  t.match(mismatch({ ...pattern, body: Buffer.from('y') }, 'GET', answerOf(200, { a: '1' })), /bytes/)
  t.match(mismatch(pattern, 'GET', { ...answerOf(200, { a: '1' }), complete: false }), /cut off/)
})

test('a copy of a noncurrent version is as old as the copy, in the model too', (t) => {
  const world = new ModelState()
  const rules = new ModelRules(world, new Map())
  const copied = copyObject({ bucket: 'b', key: 'k', sequence: 3 }, { bucket: 'b', key: 'k' })
  const commands = [
    createBucketCommand('b'),
    setVersioning('b', 'enabled'),
    write('b', 'k', Buffer.from('bytes')),
    deleteObject('b', 'k'),
    createRule('b', 'r', { prefix: '', noncurrentDays: 1 }),
    { ...copied, sourceIsVersion: true },
  ]
  for (const [index, command] of commands.entries()) {
    const outcome = rules.apply(command, { sequence: index + 1, now: FIRST_CLOCK, clockIsBehind: false })
    t.equal(outcome?.code, 'done', command.kind)
  }
  const later = FIRST_CLOCK + 2 * DAY
  rules.apply(deleteObject('b', 'k'), { sequence: 7, now: later, clockIsBehind: false })
  t.same(
    everythingDue(world, later).map(({ version }) => version.sequence),
    [4, 3],
    'the copy has just become noncurrent',
  )
  t.end()
})
