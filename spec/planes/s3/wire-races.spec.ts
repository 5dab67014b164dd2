/** Requests that meet on their way: each answer must be that of some order of them. */
import tap, { test } from 'tap'
import { startInThread } from '../../support/test-server.ts'
import { isDone } from '../../support/wire-assertions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server
const ROUNDS = 30
const VERSIONING = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'

test('a copy of the version null finds one, also when it is replaced meanwhile', async (t) => {
  isDone(t, await raw('PUT', '/replaced'), 200, 'bucket')
  isDone(t, await raw('PUT', '/replaced/a', { body: 'first' }), 200, 'object')
  const codes = new Set<unknown>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const [, copied] = await Promise.all([
      raw('PUT', '/replaced/a', { body: `round ${round}` }),
      raw('PUT', '/replaced/b', { headers: [['x-amz-copy-source', '/replaced/a?versionId=null']] }),
    ])
    codes.add(copied.code ?? copied.status)
  }
  t.same([...codes], [200])
})

test('a deletion names the marker that it made, also when versioning was enabled meanwhile', async (t) => {
  const wrong: unknown[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const bucket = `/enabled-${round}`
    isDone(t, await raw('PUT', bucket), 200, 'bucket')
    const [, deleted] = await Promise.all([
      raw('PUT', `${bucket}?versioning`, { body: VERSIONING }),
      raw('DELETE', `${bucket}/a`),
    ])
    const listed = (await raw('GET', `${bucket}?versions`)).text
    const isMarker = listed.includes('<DeleteMarker>')
    if ((deleted.headers['x-amz-delete-marker'] === 'true') !== isMarker) wrong.push(round)
    if ((deleted.headers['x-amz-version-id'] !== undefined) !== isMarker) wrong.push(round)
  }
  t.same(wrong, [])
})
