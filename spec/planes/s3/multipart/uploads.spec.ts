/** Multipart uploads from their creation to their completion; the model of the store tries the rest. */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { abort, complete, createUpload, sendPart } from '../../../support/multipart.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { blocks, firstElement } from '../../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, store } = server

const rulesBucket = '/rules-bucket'

await raw('PUT', rulesBucket)

test('conditions are judged when the upload is completed', async (t) => {
  const target = `${rulesBucket}/conditional`
  const upload = await createUpload(server, target)
  const part = await sendPart(server, target, upload, 1, 'parts')
  const attempt = (...header: HeaderLine) => complete(server, target, upload, [part], [header])
  isError(t, await attempt('if-match', '"x"'), 'NoSuchKey', 'If-Match on nothing')
  isError(t, await attempt('if-match', '*'), 'NoSuchKey', 'If-Match: * on nothing')
  const { headers } = await raw('PUT', target, { body: 'in between' })
  const refused = await attempt('if-none-match', '*')
  isError(t, refused, 'PreconditionFailed', 'If-None-Match: * on an object')
  t.equal(firstElement(refused.text, 'Condition'), 'If-None-Match')
  isError(t, await attempt('if-match', '"x"'), 'PreconditionFailed', 'another ETag')
  isError(t, await attempt('if-unmodified-since', 'Sun, 06 Nov 1994 08:49:37 GMT'), 'NotImplemented', 'a date')
  t.equal((await raw('GET', target)).text, 'in between', 'the object is what it was')
  isDone(t, await attempt('if-match', String(headers.etag)), 200, 'the ETag of the object')
  t.equal((await raw('GET', target)).text, 'parts')
  const many = await Promise.all(Array.from({ length: 8 }, () => createUpload(server, `${rulesBucket}/raced`)))
  const parts = await Promise.all(many.map((id, index) => sendPart(server, `${rulesBucket}/raced`, id, 1, `${index}`)))
  const answers = await Promise.all(
    many.map((id, index) => {
      const { etag = '' } = parts[index] ?? {}
      return complete(server, `${rulesBucket}/raced`, id, [{ number: 1, etag }], [['if-none-match', '*']])
    }),
  )
  t.equal(answers.filter((answer) => answer.status === 200).length, 1, 'of those that race, one wins')
  t.equal(answers.filter((answer) => answer.code === 'PreconditionFailed').length, 7)
  t.equal(blocks((await raw('GET', `${rulesBucket}?uploads`)).text, 'Upload').length, 7, 'and the others may try again')
  const winner = answers.findIndex((answer) => answer.status === 200)
  t.equal((await raw('GET', `${rulesBucket}/raced`)).text, `${winner}`)
  await Promise.all(many.map((id) => abort(server, `${rulesBucket}/raced`, id)))
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  t.same(store.catalog.snapshot().uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
})
