/** Clients notice what a store loses, and what is counted of kills. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { sequenceOf } from '../../../engine/brands.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { snapshotPath } from '../../../projections/snapshots/snapshot-file.ts'
import { type Finding, lost, wrong } from '../../support/dying-servers/client-findings.ts'
import { Random } from '../../support/random.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'
import { type InThreadServer, startInThread } from '../../support/test-server.ts'
import { VERSION_BUCKET, VersionClient } from '../../support/dying-servers/version-client.ts'
import { elements, firstElement, type RawRequest, type WireAnswer, WireClient } from '../../support/wire-client.ts'
import { versionsIn } from '../../support/wire-versions.ts'
import { AcknowledgingClient, CRASH_BUCKET } from './acknowledging-client.ts'
import { type KillCounts, noKills, verdict } from './kill-counts.ts'
import { SnapshotKills } from './snapshot-kills.ts'

/** Loses the answer to a request, or the request itself, as a server does that dies. */
class LossyWire extends WireClient {
  #left = 0
  #isSent = false

  breakAfter(requests: number, isSent: boolean): void {
    this.#left = requests
    this.#isSent = isSent
  }

  override async send(method: string, target: string, options?: RawRequest): Promise<WireAnswer> {
    this.#left -= 1
    if (this.#left >= 0) return super.send(method, target, options)
    if (this.#isSent) await super.send(method, target, options)
    throw new Error('cut off')
  }
}

async function startServer(): Promise<{ server: InThreadServer; wire: LossyWire }> {
  const server = await startInThread({ extensions: ['append'] })
  await server.raw('PUT', `/${CRASH_BUCKET}`)
  await server.raw('PUT', `/${VERSION_BUCKET}`, { headers: [['x-amz-bucket-object-lock-enabled', 'true']] })
  return { server, wire: new LossyWire(server) }
}

function kindsOf(findings: readonly Finding[]): string {
  return [...new Set(findings.map(({ kind }) => kind))].join()
}

test('X4 answers that never came are forgiven, whatever became of their requests', async (t) => {
  const { server, wire } = await startServer()
  t.teardown(() => server.stop())
  const random = new Random(7)
  const plain = new AcknowledgingClient(1, random)
  const versioned = new VersionClient(2, random)
  let uploads = 0
  for (let round = 0; round < 8; round += 1) {
    for (const client of [plain, versioned]) {
      wire.breakAfter(random.below(10), round % 2 === 0)
      await client.run(wire)
      if (client === versioned && versioned.wasUploading) uploads += 1
      t.same(await client.check(server.wire), [], `round ${round}`)
    }
  }
  t.ok(uploads > 0, `${uploads} uploads were cut off`)
})

test('X4 an acknowledged object that is gone is lost, another one in its place is wrong', async (t) => {
  const { server, wire } = await startServer()
  t.teardown(() => server.stop())
  const client = new AcknowledgingClient(1, new Random(3))
  wire.breakAfter(25, false)
  await client.run(wire)
  t.same(await client.check(server.wire), [])
  const [gone, changed] = client.present
  await server.raw('DELETE', `/${CRASH_BUCKET}/${gone}`)
  t.equal(kindsOf(await client.check(server.wire)), 'lost')
  await server.raw('PUT', `/${CRASH_BUCKET}/${changed}`, { body: 'other bytes' })
  t.equal(kindsOf(await client.check(server.wire)), 'wrong')
})

test('X4 versions that are gone or too many are noticed', async (t) => {
  const { server, wire } = await startServer()
  t.teardown(() => server.stop())
  const client = new VersionClient(1, new Random(5))
  wire.breakAfter(35, false)
  await client.run(wire)
  t.same(await client.check(server.wire), [])
  await server.raw('PUT', `/${VERSION_BUCKET}/versions-1/0`, { body: 'nobody asked for this' })
  t.equal(kindsOf(await client.check(server.wire)), 'wrong')

  const other = new VersionClient(2, new Random(6))
  wire.breakAfter(35, false)
  await other.run(wire)
  t.same(await other.check(server.wire), [])
  const listed = versionsIn((await server.raw('GET', `/${VERSION_BUCKET}?versions&prefix=versions-2/`)).text)
  for (const { key, id } of listed) await server.raw('DELETE', `/${VERSION_BUCKET}/${key}?versionId=${id}`)
  t.equal(kindsOf(await other.check(server.wire)), 'lost')
})

test('X4 an upload in flight that is gone or has lost a part is noticed', async (t) => {
  const { server, wire } = await startServer()
  t.teardown(() => server.stop())
  const random = new Random(9)
  const found = new Set<string>()
  for (let number = 1; found.size < 2 && number < 200; number += 1) {
    const client = new VersionClient(number, random)
    wire.breakAfter(3 + random.below(20), false)
    await client.run(wire)
    const { text } = await server.raw('GET', `/${VERSION_BUCKET}?uploads&prefix=versions-${number}/`)
    const target = `/${VERSION_BUCKET}/${firstElement(text, 'Key')}?uploadId=${firstElement(text, 'UploadId')}`
    const parts = elements((await server.raw('GET', target)).text, 'PartNumber')
    if (!client.wasUploading || parts.length === 0) continue
    const isGone = found.has('part')
    if (isGone) await server.raw('DELETE', target)
    else await server.raw('PUT', `${target}&partNumber=${parts[0]}`, { body: 'other bytes' })
    const [finding] = await client.check(server.wire)
    t.match(finding, isGone ? { kind: 'lost', text: /the upload/ } : { kind: 'wrong', text: /part \d is/ })
    found.add(isGone ? 'upload' : 'part')
  }
  t.equal(found.size, 2)
})

/** A data directory with two segments and no snapshot. The second segment begins with record 1001. */
function snapshotKills(): { kills: SnapshotKills; counts: KillCounts; paths: StorePaths; snapshot: string } {
  const paths = new StorePaths(temporaryDirectory())
  for (const directory of [paths.journal, paths.snapshots]) mkdirSync(directory, { recursive: true })
  for (const first of [1, 1001]) writeFileSync(paths.segment(sequenceOf(first)), '')
  const counts = noKills()
  const snapshot = snapshotPath(paths, sequenceOf(1000))
  return { kills: new SnapshotKills(paths, new Random(3), counts), counts, paths, snapshot }
}

test('X4 the first snapshot that is due is waited for, and a server that does not make it is told of', async (t) => {
  const { kills, counts, snapshot } = snapshotKills()
  const process = spawn('sleep', ['600'])
  const ended = once(process, 'exit')
  t.teardown(() => process.kill('SIGKILL'))
  const waiting = kills.wait({ process, log: [] })
  t.equal(await Promise.race([waiting, pause(200, 'waits')]), 'waits')
  writeFileSync(snapshot, 'made')
  t.same(await waiting, [])
  kills.killed()
  kills.killed()
  t.equal(counts.snapshots, 1)
  t.same(await kills.wait({ process, log: [] }), [], 'none is due')

  const log = ['{"msg":"no snapshot of the projections could be made; it is tried again"}']
  t.match(await snapshotKills().kills.wait({ process, log }), [
    { kind: 'wrong', text: /due and not made:\n.*tried again/ },
  ])
  const late = snapshotKills().kills.wait({ process, log: ['the last line'] })
  process.kill('SIGKILL')
  await ended
  t.match(await late, [{ kind: 'wrong', text: /due and not made:\nthe last line/ }])
})

test('X4 each third time that the projections are lost, the newest snapshot is damaged', (t) => {
  const { kills, paths, snapshot } = snapshotKills()
  const whole = 'a snapshot'
  const damaged: boolean[] = []
  for (let look = 0; damaged.length < 6 && look < 1000; look += 1) {
    mkdirSync(paths.projections, { recursive: true })
    writeFileSync(snapshot, whole)
    kills.lose()
    const isChanged = readFileSync(snapshot, 'utf8') !== whole
    if (existsSync(paths.projections)) t.notOk(isChanged)
    else damaged.push(isChanged)
  }
  t.same(damaged, [false, false, true, false, false, true])
  t.end()
})

const GOOD: KillCounts = {
  kills: 100,
  inStart: 20,
  inMultipart: 61,
  rotations: 44,
  compressed: 30,
  compactions: 23,
  snapshots: 12,
  inSnapshot: 5,
  fromSnapshot: 9,
  refused: 2,
  checkpoints: 70,
  extended: 50,
  acknowledged: 5000,
  removals: 40,
  deliveries: 900,
  bytesMaximum: 3 * 1024 ** 2,
}

test('X4 kills that lost nothing pass', (t) => {
  t.same(verdict(GOOD, []), {
    summary:
      '100 kills (20 in a start, 61 in multipart, 44 rotations, 30 compressed, 23 compactions), 12 snapshots (5 kills in one, 9 starts from one, 2 refused), 70 checkpoints (50 extended after a kill), 5000 acknowledged, 40 removed by age, 900 deliveries, at most 3 MiB, 0 lost, 0 wrong',
    passed: true,
  })
  t.end()
})

test('X4 a run that counted nothing where it hurts fails, and so does one that found something', (t) => {
  for (const name of [
    'kills',
    'inStart',
    'inMultipart',
    'rotations',
    'compressed',
    'compactions',
    'snapshots',
    'fromSnapshot',
    'refused',
    'checkpoints',
    'extended',
    'acknowledged',
    'removals',
    'deliveries',
  ] as const) {
    const { summary, passed } = verdict({ ...GOOD, [name]: 0 }, [])
    t.notOk(passed, name)
    t.match(summary, `nothing counted as ${name}`)
  }
  t.notOk(verdict(noKills(), []).passed)
  t.match(verdict(GOOD, [lost('a'), wrong('b'), wrong('c')]), { summary: /1 lost, 2 wrong$/, passed: false })
  t.end()
})
