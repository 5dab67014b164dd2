/** Proves: RES-AUD-14, STA-LCK-02, S3-LCK-16. */
import tap, { type Test, test } from 'tap'
import type { JournalEntry } from '../../../support/journal-entries.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import type { WireAnswer } from '../../../support/wire-client.ts'
import { BYPASS, createLockBucket, DAY, later, lockLines, setRetention } from '../../../support/wire-locks.ts'
import { put } from '../../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server

const [SOON, LATER] = [later(DAY), later(2 * DAY)]
const CALLER = { principal: 'system:root', credentialId: 'root', sourceAddress: '127.0.0.1' }
const BYPASS_OPERATION = 's3:object-lock.bypass'

await createLockBucket(server, 'locked')

async function recordsOf(answer: WireAnswer): Promise<JournalEntry[]> {
  const id = answer.headers['x-amz-request-id']
  return (await server.journal()).filter((entry) => entry.requestId === id)
}

/** The four records of a change with a bypass: attempt and attempted bypass, then outcome and outcome of the bypass. */
async function isBypass(t: Test, answer: WireAnswer, target: string, id: string, result: string): Promise<void> {
  const records = await recordsOf(answer)
  t.equal(records.length, 4, `${target} ${result}`)
  const resource = `bucket:${target}`
  const attempts = records.slice(0, 2)
  const outcomes = records.slice(2)
  t.ok(
    attempts.every((record) => record.result === 'attempted'),
    'both attempts stand before the operation',
  )
  t.ok(records.every((record) => record.resource === resource))
  const attempted = attempts.filter(({ operation }) => operation === BYPASS_OPERATION)
  const outcome = outcomes.filter(({ operation }) => operation === BYPASS_OPERATION)
  t.match(attempted, [{ ...CALLER, result: 'attempted', intent: undefined, changes: [] }])
  t.match(outcome, [{ ...CALLER, result, intent: attempted[0]?.sequence, changes: [] }])
  t.equal(attempted[0]?.details.get('version_id'), id, 'the attempt names the version')
  t.equal(outcome[0]?.details.get('version_id'), id, 'and so does its outcome')
  const change = outcomes.find(({ operation }) => operation !== BYPASS_OPERATION)
  t.match(change, { result, intent: attempts.find(({ operation }) => operation !== BYPASS_OPERATION)?.sequence })
  t.equal(change?.changes.length, result === 'success' ? 1 : 0)
  const deletion = attempts.find(({ operation }) => operation === 's3:DELETE')
  if (deletion !== undefined) t.equal(deletion.details.get('version_id'), id, 'the attempt of a deletion names it too')
}

test('Object Lock rule 8: a bypass that deletes a version has two records of its own, the first before it', async (t) => {
  const target = 'locked/deleted'
  const id = String(await put(server, target, 'bytes', lockLines({ mode: 'GOVERNANCE', until: SOON })))
  await put(server, target, 'above')
  const deleted = await raw('DELETE', `/${target}?versionId=${id}`, { headers: [BYPASS] })
  isDone(t, deleted, 204, 'deleted')
  await isBypass(t, deleted, target, id, 'success')
})

test('Object Lock rule 8: a bypass of the current version names it too', async (t) => {
  const target = 'locked/shortened'
  const id = String(await put(server, target, 'bytes', lockLines({ mode: 'GOVERNANCE', until: LATER })))
  const shorter = { mode: 'GOVERNANCE', until: SOON }
  const byId = await setRetention(server, target, shorter, { versionId: id, headers: [BYPASS] })
  isDone(t, byId, 200, 'by id')
  await isBypass(t, byId, target, id, 'success')
  const removed = await setRetention(server, target, {}, { headers: [BYPASS] })
  isDone(t, removed, 200, 'the current one')
  await isBypass(t, removed, target, id, 'success')
})

test('Object Lock rule 8: a bypass that is refused is on record as well', async (t) => {
  const rows = [
    ['compliance', { mode: 'COMPLIANCE', until: LATER }],
    ['held', { mode: 'GOVERNANCE', until: LATER, hold: 'ON' }],
  ] as const
  for (const [name, lock] of rows) {
    const target = `locked/${name}`
    const id = String(await put(server, target, 'bytes', lockLines(lock)))
    const refused = await raw('DELETE', `/${target}?versionId=${id}`, { headers: [BYPASS] })
    isError(t, refused, 'AccessDenied', name)
    await isBypass(t, refused, target, id, 'denied')
  }
})

test('a bypass is of a version: hiding a key, and what is not there, are none', async (t) => {
  await put(server, 'locked/hidden', 'bytes', lockLines({ mode: 'GOVERNANCE', until: LATER }))
  const answers = [
    await raw('DELETE', '/locked/hidden', { headers: [BYPASS] }),
    await raw('DELETE', '/locked/never', { headers: [BYPASS] }),
    await raw('DELETE', `/locked/hidden?versionId=${'A'.repeat(22)}`, { headers: [BYPASS] }),
    await setRetention(server, 'locked/hidden', {}, { headers: [BYPASS] }),
  ]
  for (const answer of answers) {
    const records = await recordsOf(answer)
    t.equal(records.length, 2, String(answer.status))
    t.ok(records.every(({ operation }) => operation !== BYPASS_OPERATION))
  }
})

test('W5: the lock of a write is in the very entry that writes it', async (t) => {
  const lock = { mode: 'COMPLIANCE', until: LATER, hold: 'ON' }
  const written = await raw('PUT', '/locked/stamped', { body: 'bytes', headers: lockLines(lock) })
  const [, outcome] = await recordsOf(written)
  const expected = { retention: { mode: 'COMPLIANCE', untilMilliseconds: Date.parse(LATER) }, hold: true }
  t.match(outcome?.changes, [{ name: 'object.written', lock: expected }])
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
