import { test } from 'tap'
import { microsecondsOf } from '../../../engine/brands.ts'
import type { JournalEntry } from '../../support/journal-entries.ts'
import { type Answered, auditProblem } from './audit-oracle.ts'

function entry(sequence: number, more: Partial<JournalEntry>): JournalEntry {
  return {
    sequence,
    orderMicroseconds: sequence,
    timeMicroseconds: sequence,
    result: 'success',
    principal: 'system:root',
    credentialId: 'root',
    sourceAddress: undefined,
    requestId: 'one',
    operation: 's3:PutObject',
    resource: 'bucket:b/k',
    intent: undefined,
    metadata: [],
    details: new Map(),
    changes: [],
    ...more,
  }
}

const ATTEMPT = entry(1, { result: 'attempted' })
const OUTCOME = entry(2, { intent: 1 } as Partial<JournalEntry>)
const START = entry(3, { requestId: undefined, changes: [{ name: 'server.started', version: '0', start: '00' }] })
const PUT: Answered = {
  requestId: 'one',
  method: 'PUT',
  target: '/b/k',
  status: 200,
  life: 1,
  isComplete: true,
  faults: 0,
  unsure: 0,
}
const GET: Answered = { ...PUT, requestId: 'two', method: 'GET' }
const VERIFY: Answered = { ...PUT, requestId: 'two', method: 'POST', target: '/api/v1/verify/objects/b/k' }

test('pairs of attempts and outcomes', (t) => {
  const none = new Set<number>()
  t.equal(auditProblem([ATTEMPT, OUTCOME], [], none), undefined)
  t.equal(auditProblem([ATTEMPT, START], [], none), undefined, 'the host ended in between')
  t.match(auditProblem([ATTEMPT], [], none), /attempt 1 \(s3:PutObject\) has no outcome/)
  t.match(auditProblem([OUTCOME], [], none), /no open attempt/)
  t.match(auditProblem([ATTEMPT, OUTCOME, { ...OUTCOME, sequence: 3 }], [], none), /no open attempt/, 'a second one')
  t.match(auditProblem([ATTEMPT, { ...OUTCOME, requestId: 'two' }], [], none), /another request/)
  t.match(auditProblem([ATTEMPT, { ...OUTCOME, orderMicroseconds: 0 }], [], none), /ordered before/)
  const setBack = entry(3, {
    orderMicroseconds: 1,
    changes: [{ name: 'clock.set-back', from: microsecondsOf(2), to: microsecondsOf(1), reason: 'r' }],
  })
  t.equal(auditProblem([ATTEMPT, OUTCOME, setBack], [], none), undefined, 'a command may set the clock back')
  t.match(auditProblem([ATTEMPT, OUTCOME, { ...setBack, orderMicroseconds: 0 }], [], none), /entry 3 says other times/)
  t.end()
})

test('records of what was answered', (t) => {
  const [none, first] = [new Set<number>(), new Set([1])]
  t.equal(auditProblem([ATTEMPT, OUTCOME], [PUT], none), undefined)
  t.match(auditProblem([], [PUT], none), /PUT \/b\/k was answered 200, and has no record/)
  t.equal(auditProblem([], [GET, VERIFY], none), undefined, 'a sudden end may take the records of reads with it')
  t.match(auditProblem([], [GET], first), /no record/, 'a stop in order may not')
  t.match(auditProblem([], [VERIFY], first), /no record/)
  t.equal(auditProblem([], [{ ...GET, target: '/metrics' }], first), undefined, 'probes have none')
  t.end()
})

test('results of what was answered', (t) => {
  const none = new Set<number>()
  const said = (
    results: readonly JournalEntry['result'][],
    more: Partial<Answered>,
    operation = 's3:PutObject',
    orderly: ReadonlySet<number> = none,
  ) => {
    const entries = results.map((result, index) => entry(index + 1, { result, operation }))
    return auditProblem(entries, [{ ...PUT, ...more }], orderly)
  }
  t.equal(said(['success'], {}), undefined)
  t.equal(said(['denied'], { status: 403 }), undefined)
  t.equal(said(['failure'], { status: 404 }), undefined)
  t.equal(said(['failure', 'success'], {}), undefined, 'it was tried again')
  t.match(said(['failure'], {}), /was answered 200, and is on record as failure, not success/)
  t.match(said(['failure'], { status: 403 }), /is on record as failure, not denied/)
  t.match(said(['success'], { status: 412 }), /PUT \/b\/k was answered 412, and is on record as a success/)
  t.equal(said(['success'], { status: 500 }), undefined, 'nobody knows what became of it')
  const batch: Partial<Answered> = { method: 'POST', target: '/b?delete', faults: 1 }
  t.equal(said(['success', 'denied', 'success'], batch), undefined)
  const inOrder = said(['success', 'success'], batch, 's3:DeleteObject', new Set([1]))
  t.match(inOrder, /refused 1 keys, and 0 are on record as refused/)
  t.match(
    said(['success', 'success'], batch),
    /and 0 are on record as refused/,
    'nor is a refusal told before its record',
  )
  t.equal(said(['success', 'success'], { ...batch, unsure: 1 }), undefined, 'but of a fault of the server')
  t.match(said(['denied', 'denied'], batch), /refused 1 keys, and 2 are on record as refused/)
  const broken: Partial<Answered> = { method: 'GET', target: '/api/v1/audit/export', isComplete: false }
  t.equal(said(['failure'], broken, 'audit.export'), undefined)
  t.match(said(['success'], broken, 'audit.export'), /broke off, and is on record as a success/)
  const own = entry(2, { principal: 'system:links', credentialId: undefined })
  t.equal(auditProblem([entry(1, {}), own], [PUT], none), undefined, 'and what the store does in its own name')
  t.end()
})
