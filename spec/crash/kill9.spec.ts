import { readdirSync } from 'node:fs'
import { test } from 'tap'
import { environment } from '../../cli/environment.ts'
import { verifyJournal } from '../../cli/journal-verify/journal-verifier.ts'
import { StorePaths, volumeNumber } from '../../engine/disk/store-paths.ts'
import { checkProjections } from '../../projections/check.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { PAYLOAD_FILES } from '../../projections/tables/payloads.ts'
import { AcknowledgingClient, CRASH_BUCKET, listedKeys } from '../support/acknowledging-client.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { Random } from '../support/random.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { roomyDisk } from '../support/test-store.ts'
import { VERSION_BUCKET, VersionClient } from '../support/version-client.ts'

/** More cycles: `KILL9_CYCLES=500 npx tap run build/spec/crash/kill9.spec.js --timeout=1200`; `KILL9_SEED` repeats a run. */
const CYCLES = Number(environment['KILL9_CYCLES'] ?? 50)
const SEED = Number(environment['KILL9_SEED'] ?? Date.now() % 2 ** 31)
/** Of each kind: on a plain bucket, and on one with versions, locks and uploads. */
const CLIENTS = 4
/** Small, so that segments and volumes are rotated all the time. */
const SETTINGS = { OBJECT_STORE_STORAGE_SEGMENT_MIB: '1', OBJECT_STORE_STORAGE_VOLUME_MIB: '1' }
const KILL_WITHIN_MILLISECONDS = 400
const SWEEP_LOOKS_MAXIMUM = 300

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

function start(dataDirectory: string, spawned?: Parameters<typeof startProcess>[0]): Promise<ProcessServer> {
  return startProcess({ ...spawned, dataDirectory, environment: SETTINGS })
}

/** Starts a server and kills it while it recovers; now and then it has started by then. */
async function killWhileStarting(dataDirectory: string, random: Random): Promise<void> {
  const starting = start(dataDirectory, {
    spawned: (child) => void pause(100 + random.below(500)).then(() => child.kill('SIGKILL')),
  })
  const started = await starting.catch(() => undefined)
  await started?.kill9()
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

/** Waits until the payload files on disk are those that the catalog knows; returns those that are too many. */
async function sweptFiles(paths: StorePaths): Promise<string[]> {
  const projections = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    let surplus: string[] = []
    for (let look = 0; look < SWEEP_LOOKS_MAXIMUM; look += 1) {
      projections.refresh()
      const known = new Set(Array.from(projections.table(PAYLOAD_FILES).keys({}), (key) => key.toString()))
      surplus = filesIn(paths.files).filter((name) => !known.has(name))
      if (surplus.length === 0) break
      await pause(100)
    }
    return surplus
  } finally {
    await projections.close()
  }
}

test(`J1 J16 what was acknowledged survives kill -9, ${CYCLES} times`, async (t) => {
  t.comment(`KILL9_SEED=${SEED}`)
  t.setTimeout(60_000 + CYCLES * 10_000)
  const dataDirectory = t.testdir()
  const paths = new StorePaths(dataDirectory)
  const random = new Random(SEED)
  const numbers = Array.from({ length: CLIENTS }, (_, index) => index + 1)
  const plain = numbers.map((number) => new AcknowledgingClient(number, random))
  const clients = [...plain, ...numbers.map((number) => new VersionClient(CLIENTS + number, random))]
  const first = await start(dataDirectory)
  t.equal((await first.wire.send('PUT', `/${CRASH_BUCKET}`)).status, 200)
  const headers = [['x-amz-bucket-object-lock-enabled', 'true']] as const
  t.equal((await first.wire.send('PUT', `/${VERSION_BUCKET}`, { headers })).status, 200)
  await first.kill9()
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const server = await start(dataDirectory)
    const wrong = (await Promise.all(clients.map((client) => client.check(server.wire)))).flat()
    const keys = await listedKeys(server.wire)
    const present = plain.flatMap((client) => client.present).toSorted()
    const left = filesIn(paths.uploads)
    t.same([wrong, left, keys], [[], [], present], `cycle ${cycle}: everything acknowledged is there, and nothing else`)
    const running = Promise.all(clients.map((client) => client.run(server.wire)))
    await pause(random.below(KILL_WITHIN_MILLISECONDS))
    server.process.kill('SIGKILL')
    await running
    await server.kill9()
    const { intact, problems } = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
    if (!intact) t.fail(`cycle ${cycle}: the journal is damaged`, { problems })
    if (cycle % 5 === 4) await killWhileStarting(dataDirectory, random)
  }

  const last = await start(dataDirectory)
  t.same((await Promise.all(clients.map((client) => client.check(last.wire)))).flat(), [])
  t.same(await sweptFiles(paths), [], 'no payload file is left that nobody refers to')
  t.equal(await last.terminate(), 0)
  await last.stop()
  t.match(await verifyJournal(paths.journal, { threads: 0 }), {
    intact: true,
    problems: [],
    openSegmentTornTail: undefined,
  })
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 }, 'the projections are what the journal says')
  const journal = readdirSync(paths.journal)
  t.notMatch(journal.join(), /rewrite|making|spare/, 'nothing is left half made')
  const entries = journalEntries(dataDirectory)
  const starts = entries.filter(({ changes }) => changes.some(({ name }) => name === 'server.started')).length
  t.ok(starts >= CYCLES + 2, `${starts} starts`)
  const segments = journal.filter((name) => name.endsWith('.segment')).length
  // Their number, also when compaction has removed some.
  const volumes = Math.max(...readdirSync(paths.volumes).map((name) => 1 + (volumeNumber(name) ?? 0)))
  t.ok(segments > CYCLES / 25 && volumes > CYCLES / 25, `${segments} segments, ${volumes} volumes`)
  const acknowledged = clients.reduce((total, { counts }) => total + counts.acknowledged, 0)
  const unanswered = clients.reduce((total, { counts }) => total + counts.unanswered, 0)
  t.ok(acknowledged > CYCLES * clients.length, `${acknowledged} requests acknowledged`)
  t.equal(unanswered, CYCLES * clients.length, 'each client was cut off in each cycle')
})
