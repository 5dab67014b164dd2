/** Copies of parts of a greedy account beside the copies of a modest one. */
import tap, { test } from 'tap'
import { shareTable } from '../../../../engine/shares/share-table.ts'
import { copyTurns } from '../../../../planes/objects/copy-turns.ts'
import { allow, type Identity, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { createUpload, largePart, settledFiles, uploadWhole } from '../../../support/multipart.ts'
import { copyOf, partOf, range } from '../../../support/part-copies.ts'
import type { TestServer } from '../../../support/test-clients.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { remove } from '../../../support/wire-versions.ts'

const server = await startManaged({ extensions: ['upload-part-copy'] })
tap.teardown(() => server.stop())
const BUCKET = '/copied'
const EVERYTHING = [allow(['s3:*'], 'bucket:copied', 'bucket:copied/*')]
const { waitingMaximum, capacity } = shareTable['copy-turns']

await server.raw('PUT', BUCKET)
const PARTS = [largePart(1), largePart(2)]
await uploadWhole(server, `${BUCKET}/whole`, PARTS)
await uploadWhole(server, `${BUCKET}/mortal`, PARTS)

/** The server as an account asks it. */
function as({ signing }: Identity): TestServer {
  return { ...server, raw: (method, path, options) => server.raw(method, path, { ...signing, ...options }) }
}

const greedyIdentity = await newIdentity(server, EVERYTHING)
const [greedy, modest] = [as(greedyIdentity), as(await newIdentity(server, EVERYTHING))]
const GREEDY = `service_account:${greedyIdentity.account.id}`

/** Begins so many copies of a whole source. */
async function beginCopies(count: number, source = 'copied/whole') {
  const upload = await createUpload(greedy, `${BUCKET}/greedy`)
  const begun = Array.from({ length: count }, (_, index) =>
    copyOf(greedy, `${BUCKET}/greedy`, upload, index + 1, source),
  )
  while (copyTurns.used + copyTurns.waiting < Math.min(count, capacity + waitingMaximum)) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  return begun
}

test('a copy of a modest account goes before the many of a greedy one, also where they fill the line', async (t) => {
  let ended = 0
  const copies = (await beginCopies(capacity + waitingMaximum)).map((copy) => copy.finally(() => (ended += 1)))
  const upload = await createUpload(modest, `${BUCKET}/modest`)
  const answer = await copyOf(modest, `${BUCKET}/modest`, upload, 1, 'copied/whole', [range(1, 300_000)])
  isDone(t, answer, 200, 'the modest account')
  t.ok(ended <= capacity + 1, `${ended} copies of the greedy account had ended, one of them refused`)
  const answers = await Promise.all(copies)
  t.equal(answers.filter(({ status }) => status === 200).length, copies.length - 1)
  const refused = answers.filter(({ status }) => status !== 200)
  for (const one of refused) isError(t, one, 'SlowDown', 'the newest of the greedy account')
  const etags = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => partOf(1, text).etag))
  t.equal(etags.size, 1, 'what gave way has all its bytes')
  t.same([copyTurns.used, copyTurns.waiting], [0, 0])
  t.same(server.failures, [])
})

test('a copy that gave way ends in a clear answer where its source is removed meanwhile', async (t) => {
  server.wire.close()
  const files = await settledFiles(server)
  const copies = await beginCopies(capacity, 'copied/mortal')
  const upload = await createUpload(modest, `${BUCKET}/modest`)
  const beside = copyOf(modest, `${BUCKET}/modest`, upload, 1, 'copied/whole', [range(1, 2_000_000)])
  while (copyTurns.usedBy(GREEDY) > 1) await new Promise((resolve) => setImmediate(resolve))
  await remove(server, 'copied/mortal')
  isDone(t, await beside, 200, 'the modest account')
  const answers = await Promise.all(copies)
  t.ok(answers.some(({ code }) => code === 'NoSuchKey'))
  for (const answer of answers) if (answer.status !== 200) isError(t, answer, 'NoSuchKey', 'the greedy account')
  t.same([copyTurns.used, copyTurns.waiting], [0, 0])
  t.ok((await settledFiles(server)).length < files.length, 'nothing is left of what was begun')
  t.same(server.failures, [])
})
