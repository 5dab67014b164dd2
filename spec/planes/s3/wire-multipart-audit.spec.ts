/** What stands in the journal of multipart uploads: two records of every change, and no result that was not answered. */
import tap, { type Test, test } from 'tap'
import {
  complete,
  completionOf,
  createUpload,
  largePart,
  partTarget,
  sendPart,
  uploadTarget,
} from '../../support/multipart.ts'
import { startInThread } from '../../support/test-server.ts'
import type { WireAnswer } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server
const target = '/audit-bucket/key'

await raw('PUT', '/audit-bucket')

interface Expected {
  readonly api: string
  readonly status: number
  readonly changes: readonly string[]
  readonly details?: Readonly<Record<string, string | number>>
}

/** An answer must have an attempt and an outcome that says what was answered. */
async function isRecorded(
  t: Test,
  answer: WireAnswer,
  { api, status, changes, details = {} }: Expected,
): Promise<void> {
  t.equal(answer.status, status, `${api}: ${answer.code ?? 'done'}`)
  const id = answer.headers['x-amz-request-id']
  const records = (await server.journal()).filter((entry) => entry.requestId === id)
  t.same(
    records.map((record) => record.result),
    ['attempted', status < 300 ? 'success' : 'failure'],
    `${api}: ${status}`,
  )
  const [attempt, outcome] = records
  t.equal(outcome?.intent, attempt?.sequence)
  t.match(attempt, { changes: [], resource: 'bucket:audit-bucket/key' })
  t.same(
    outcome?.changes.map((change) => change.name),
    changes,
  )
  t.match(Object.fromEntries(outcome?.details ?? []), { api, ...details })
}

test('every change of an upload has an attempt and an outcome', async (t) => {
  const created = await raw('POST', `${target}?uploads`)
  await isRecorded(t, created, { api: 'CreateMultipartUpload', status: 200, changes: ['upload.created'] })
  const upload = await createUpload(server, target)
  const part = (number: number, body: Buffer | string) => raw('PUT', partTarget(target, upload, number), { body })
  const written = { api: 'UploadPart', status: 200, changes: ['upload.part-written'] }
  for (const body of ['small', '', largePart(1)]) {
    await isRecorded(t, await part(7, body), { ...written, details: { part: 7 } })
  }
  const small = await sendPart(server, target, upload, 3, 'small')
  const last = await sendPart(server, target, upload, 9, 'last')
  const completion = (parts = [last]) => complete(server, target, upload, parts)
  const refused = { api: 'CompleteMultipartUpload', changes: [] }
  await isRecorded(t, await completion([small, last]), {
    ...refused,
    status: 400,
    details: { error: 'part-too-small' },
  })
  await isRecorded(t, await completion([]), { ...refused, status: 400, details: { error: 'MalformedXML' } })
  const changes = ['upload.completed', 'object.written']
  await isRecorded(t, await completion(), { api: 'CompleteMultipartUpload', status: 200, changes })
  await isRecorded(t, await completion(), { ...refused, status: 200 })
  await isRecorded(t, await completion([small]), { ...refused, status: 404 })
  await isRecorded(t, await part(1, 'late'), { api: 'UploadPart', status: 404, changes: [] })
  const given = await createUpload(server, target)
  await sendPart(server, target, given, 1, 'x')
  const abort = () => raw('DELETE', uploadTarget(target, given))
  await isRecorded(t, await abort(), { api: 'AbortMultipartUpload', status: 204, changes: ['upload.aborted'] })
  await isRecorded(t, await abort(), { api: 'AbortMultipartUpload', status: 404, changes: [] })
})

test('completions at once have each what they were answered', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const upload = await createUpload(server, target)
    const parts = [await sendPart(server, target, upload, 1, `round ${round}`)]
    const body = completionOf(parts)
    const answers = await Promise.all([1, 2, 3, 4].map(() => raw('POST', uploadTarget(target, upload), { body })))
    const done = { api: 'CompleteMultipartUpload', status: 200 }
    const ids = answers.map((answer) => answer.headers['x-amz-request-id'])
    const entries = await server.journal()
    const made = entries.filter((entry) => entry.changes.length > 0 && ids.includes(entry.requestId))
    t.equal(made.length, 1, 'one of them made the object')
    for (const answer of answers) {
      const first = made[0]?.requestId === answer.headers['x-amz-request-id']
      await isRecorded(t, answer, { ...done, changes: first ? ['upload.completed', 'object.written'] : [] })
    }
  }
})

test('a list has one record', async (t) => {
  const upload = await createUpload(server, target)
  for (const path of ['/audit-bucket?uploads', uploadTarget(target, upload), uploadTarget(target, 'none')]) {
    const answer = await raw('GET', path)
    const id = answer.headers['x-amz-request-id']
    const records = (await server.journal()).filter((entry) => entry.requestId === id)
    t.match(records, [{ result: answer.status === 200 ? 'success' : 'failure', intent: undefined, changes: [] }])
    t.equal(records.length, 1)
  }
})
