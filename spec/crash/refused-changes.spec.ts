/**
 * A real server whose journal cannot be synced: what it answers 503 does not exist after its restart.
 * Proves: AUT-MGT-10, ERR-OTH-01.
 */
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { exitTable } from '../../cli/exit-codes.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { ApiClient, bearer } from '../support/api-client.ts'
import { segmentPath } from '../support/journal-files.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { TRACEABLE, trace, traceEnded } from '../support/disks/system-call-tracer.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { BYPASS, DAY, LOCK_HEADER } from '../support/wire-locks.ts'
import { elements, type WireAnswer } from '../support/wire-client.ts'

const SYSTEM_TOKEN = 'the-system-token-of-the-specs-0123456789'
const SETTINGS = { ...TRACEABLE, OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: SYSTEM_TOKEN }

interface Change {
  readonly name: string
  /** The code in the answer when the outcome is known, and when it is not. */
  readonly codes: readonly [known: string, unknown: string]
  send(server: ProcessServer, version: string): Promise<Pick<WireAnswer, 'status' | 'text'>>
}

const S3_CODES = ['ServiceUnavailable', 'OutcomeUnknown'] as const

const CHANGES: readonly Change[] = [
  {
    name: 'a PUT over an object',
    codes: S3_CODES,
    send: ({ wire }) => wire.send('PUT', '/kept/object', { body: 'new' }),
  },
  { name: 'a DELETE', codes: S3_CODES, send: ({ wire }) => wire.send('DELETE', '/kept/object') },
  {
    name: 'a DELETE with bypass of a retention',
    codes: S3_CODES,
    send: ({ wire }, version) => wire.send('DELETE', `/locked/object?versionId=${version}`, { headers: [BYPASS] }),
  },
  {
    name: 'POST /buckets',
    codes: ['AUDIT_UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    send: ({ apiEndpoint }) =>
      ApiClient.of(apiEndpoint, bearer(SYSTEM_TOKEN)).call('POST', '/buckets', { name: 'second' }),
  },
]

async function prepare({ wire }: ProcessServer): Promise<string> {
  await wire.send('PUT', '/kept')
  await wire.send('PUT', '/kept/object', { body: 'old' })
  await wire.send('PUT', '/locked', { headers: [['x-amz-bucket-object-lock-enabled', 'true']] })
  const until = new Date(Date.now() + DAY).toISOString()
  const headers = [
    [LOCK_HEADER.mode, 'GOVERNANCE'],
    [LOCK_HEADER.until, until],
  ] as const
  const locked = await wire.send('PUT', '/locked/object', { body: 'locked', headers })
  return String(locked.headers['x-amz-version-id'])
}

/** One change to a server on which the syncs of some files fail. Returns the answer, and the log of the server. */
async function changed(t: Test, change: Change, dataDirectory: string, files: (paths: StorePaths) => string[]) {
  const server = await startProcess({ dataDirectory, environment: SETTINGS })
  const version = await prepare(server)
  const paths = new StorePaths(dataDirectory)
  const log = join(dataDirectory, 'trace')
  const strace = await trace(server.process, { log, calls: ['fdatasync'], paths: files(paths), injection: 'error=EIO' })
  const answer = await change.send(server, version)
  await traceEnded(strace)
  t.equal(server.process.exitCode, exitTable.journalFailed.code)
  await server.kill9()
  return { answer, version, log: server.log.join('\n'), paths }
}

test('what was answered 503 because it could not be made durable does not exist after the restart', async (t) => {
  for (const change of CHANGES) {
    const directory = temporaryDirectory()
    const { answer, version, log, paths } = await changed(t, change, directory, (of) => [segmentPath(of, -1)])
    t.equal(answer.status, 503, change.name)
    t.match(answer.text, change.codes[0])
    t.match(answer.text, /othing was changed/)
    t.match(log, /HEAD says that nothing after sequence \d+ was acknowledged/)
    const again = await startProcess({ dataDirectory: directory, environment: SETTINGS })
    t.equal((await again.wire.send('GET', '/kept/object')).text, 'old', change.name)
    t.equal((await again.wire.send('GET', `/locked/object?versionId=${version}`)).text, 'locked')
    t.same(elements((await again.wire.send('GET', '/')).text, 'Name'), ['kept', 'locked'])
    t.match(again.log.join('\n'), /a batch that was refused because it could not be made durable/)
    const recovered = (await again.journal()).flatMap(({ changes }) =>
      changes.filter(({ name }) => name === 'journal.recovered'),
    )
    t.match(recovered, [{ refused: true }])
    t.equal(await again.terminate(), 0)
    t.match(await verifyJournal(paths.journal, { threads: 0 }), { intact: true, problems: [] })
    await again.stop()
  }
})

const TRIES_MAXIMUM = 5

function segmentAndHead(paths: StorePaths): string[] {
  return [segmentPath(paths, -1), paths.head]
}

test('where HEAD cannot be synced either, the answer is that nobody knows', async (t) => {
  for (const change of [CHANGES[0], CHANGES[3]]) {
    if (change === undefined) throw new Error('there are four changes')
    let { answer, log } = await changed(t, change, temporaryDirectory(), segmentAndHead)
    // The mark is written once a second: where that comes first, nothing has been done for the change yet.
    for (let tries = 1; /the high-water mark cannot be written/.test(log) && tries < TRIES_MAXIMUM; tries += 1) {
      t.equal(answer.status, 503)
      ;({ answer, log } = await changed(t, change, temporaryDirectory(), segmentAndHead))
    }
    t.equal(answer.status, 500, change.name)
    t.match(answer.text, change.codes[1])
    t.match(log, /HEAD cannot say so .*EIO/)
  }
})

const READERS = 16
const READS_BEFORE = 200

test('each GET that was answered 200 before the exit has its record after the restart', async (t) => {
  const directory = temporaryDirectory()
  const server = await startProcess({ dataDirectory: directory, environment: SETTINGS })
  await prepare(server)
  const answered: string[] = []
  const refused: number[] = []
  const over = new AbortController()
  const readers = Array.from({ length: READERS }, async () => {
    while (!over.signal.aborted) {
      const answer = await server.wire.send('GET', '/kept/object').catch(() => undefined)
      if (answer === undefined || !answer.complete) return
      if (answer.status === 200) answered.push(String(answer.headers['x-amz-request-id']))
      else refused.push(answer.status)
    }
  })
  while (answered.length < READS_BEFORE) await new Promise((resolve) => setTimeout(resolve, 5))
  const paths = [segmentPath(new StorePaths(directory), -1)]
  const log = join(directory, 'trace')
  const strace = await trace(server.process, { log, calls: ['fdatasync'], paths, injection: 'error=EIO:when=5+' })
  await traceEnded(strace)
  over.abort()
  await Promise.all(readers)
  t.equal(server.process.exitCode, exitTable.journalFailed.code)
  t.ok(
    refused.every((status) => status === 503),
    'nothing else was answered without a record',
  )
  t.match(server.log.join('\n'), /records of answered requests are kept for the next start/)
  await server.kill9()
  const again = await startProcess({ dataDirectory: directory, environment: SETTINGS })
  const recorded = (await again.journal()).flatMap(({ requestId }) => requestId ?? [])
  const missing = answered.filter((requestId) => !recorded.includes(requestId))
  t.same(missing, [], `${answered.length} were answered, ${refused.length} refused`)
  t.equal(new Set(recorded.filter((id) => answered.includes(id))).size, answered.length)
  await again.stop()
})
