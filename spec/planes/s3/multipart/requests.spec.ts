/** Parts that are cut off, and completions at once. */
import tap, { test, type Test } from 'tap'
import {
  abort,
  completionOf,
  createUpload,
  largePart,
  PART_BYTES,
  partTarget,
  sendPart,
  settledFiles,
  uploadTarget,
} from '../../../support/multipart.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone } from '../../../support/wire-assertions.ts'
import { elements, type WireAnswer } from '../../../support/wire-client.ts'
import { openRaw } from '../../../support/raw/raw-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, store } = server

const bucket = '/headers-bucket'

await raw('PUT', bucket)

test('a part that does not come to its end leaves the one before', async (t) => {
  const target = `${bucket}/cut`
  const upload = await createUpload(server, target)
  await sendPart(server, target, upload, 1, 'whole')
  const { length: files } = await settledFiles(server)
  const kept = elements((await raw('GET', uploadTarget(target, upload))).text, 'ETag')
  for (const length of [1000, PART_BYTES]) {
    const writer = openRaw(server.port)
    const part = partTarget(target, upload, 1)
    const unsignedHeaders = [['content-length', String(length)]] as const
    writer.send(server.wire.headText('PUT', part, { sign: { payloadHash: 'UNSIGNED-PAYLOAD' }, unsignedHeaders }))
    await writer.push(largePart(1).subarray(0, length - 1))
    writer.socket.destroy()
    await writer.closed
  }
  while (server.gate.active > 0) await new Promise((resolve) => setImmediate(resolve))
  t.same(elements((await raw('GET', uploadTarget(target, upload))).text, 'ETag'), kept)
  t.equal((await settledFiles(server)).length, files)
  isDone(t, await abort(server, target, upload), 204, 'abort')
})

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

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  t.same(store.catalog.snapshot().uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
})
