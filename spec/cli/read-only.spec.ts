/** A read-only file system ends the server with 20 and a sentence, and a start on it as well; the store is as it was. */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { exitTable } from '../../cli/exit-codes.ts'
import { readOnlyFrom } from '../support/disks/read-only.ts'
import { startProcess } from '../support/server-process.ts'

const SENTENCE = /the file system of the store is read-only \(EROFS: .*dmesg.*mount it for writing and start the server/

test('a file system that turns read-only', async (t) => {
  const directory = t.testdir()
  const [data, flag] = [join(directory, 'data'), join(directory, 'read-only')]
  const environment = { NODE_OPTIONS: readOnlyFrom(flag, data) }
  const server = await startProcess({ dataDirectory: data, environment })
  const ended = once(server.process, 'exit')
  t.teardown(() => server.kill9())
  t.equal((await server.wire.send('PUT', '/photos')).status, 200)
  t.equal((await server.wire.send('PUT', '/photos/before', { body: 'acknowledged' })).status, 200)
  writeFileSync(flag, '')
  const refused = await server.wire.send('PUT', '/photos/after', { body: 'refused' }).catch(() => undefined)
  t.notMatch(refused, { status: 200 })
  t.same(await ended, [exitTable.journalFailed.code, null])
  const lines = server.log.map((line) => JSON.parse(line) as { level: string; msg: string; reason?: string })
  t.match(
    lines.find(({ level }) => level === 'fatal'),
    { reason: SENTENCE },
  )
  t.match(lines.at(-1), { msg: 'stopped', exitCode: 20 })

  const start = startProcess({ dataDirectory: data, environment })
  await t.rejects(start, { message: SENTENCE }, 'a start on it says the same')

  rmSync(flag)
  const again = await startProcess({ dataDirectory: data })
  t.teardown(() => again.kill9())
  t.equal((await again.wire.send('GET', '/photos/before')).text, 'acknowledged')
  t.equal((await again.wire.send('GET', '/photos/after')).status, 404)
  t.equal(await again.terminate(), 0)
})

test('the file system of a store that is to be made', async (t) => {
  const directory = t.testdir()
  const [data, flag] = [join(directory, 'data'), join(directory, 'read-only')]
  writeFileSync(flag, '')
  let ended: Promise<unknown> | undefined
  const start = startProcess({
    dataDirectory: data,
    environment: { NODE_OPTIONS: readOnlyFrom(flag, data) },
    spawned: (child) => {
      ended = once(child, 'exit')
    },
  })
  await t.rejects(start, { message: SENTENCE })
  t.same(await ended, [exitTable.journalFailed.code, null])
})
