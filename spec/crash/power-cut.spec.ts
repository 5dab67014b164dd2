import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { environment } from '../../cli/environment.ts'
import { verifyJournal } from '../../cli/journal-verify/journal-verifier.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { createBucket } from '../support/commands.ts'
import { ModelledClients } from '../support/modelled-clients.ts'
import { PowerCutDisk, type SyncCall } from '../support/power-cut-disk.ts'
import { Random } from '../support/random.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { openTestStore, roomyDisk } from '../support/test-store.ts'

/** More of them: `POWER_CUTS=5000 npx tap run build/spec/crash/power-cut.spec.js --timeout=1200`; a seed repeats a run. */
const CUTS = Number(environment['POWER_CUTS'] ?? 400)
const SEED = Number(environment['POWER_SEED'] ?? Date.now() % 2 ** 31)
/** A lying disk must be found out within this many power cuts. */
const CUTS_TO_NOTICE = 150
const SIZES = { segmentBytes: 16 * 1024, volumeBytes: 16 * 1024 }
/** In every third life several commands share a batch. */
const sizesOf = (life: number) => (life % 3 === 0 ? { ...SIZES, segmentBytes: 1 << 20 } : SIZES)
const CLIENTS = 3
/** Later than the host's clock, by which a journal begins. */
const BEGINNING = Date.parse('2126-01-02T03:04:05Z')
const LIFE_MILLISECONDS = 60_000

/** What was written to projections and not synced may be anything after a power cut; those of a clean stop are synced. */
function spoilProjections(paths: StorePaths, random: Random): void {
  const head = HeadFile.open(roomyDisk, paths)
  const isClean = head.newest?.clean === true
  head.close()
  if (isClean) return
  const choice = random.below(3)
  if (choice === 0) fs.rmSync(paths.projections, { recursive: true, force: true })
  if (choice === 1 && fs.readdirSync(paths.root).includes('projections')) {
    fs.writeFileSync(join(paths.projections, 'data.mdb'), sampleBytes(50_000, random.below(1000)))
  }
}

type Life = 'stops in order' | 'loses power while it opens' | 'loses power while it works'

const LIVES: readonly Life[] = [
  'stops in order',
  'loses power while it opens',
  'loses power while it works',
  'loses power while it works',
  'loses power while it works',
]

/** One life of the host, from opening the store to the power cut; tells what is wrong, if anything is. */
async function live(
  paths: StorePaths,
  life: Life,
  disk: PowerCutDisk,
  number: number,
  clients: ModelledClients,
  random: Random,
): Promise<string[]> {
  if (life === 'loses power while it opens') disk.left = 1 + random.below(80)
  const now = BEGINNING + number * LIFE_MILLISECONDS
  try {
    const options = { ...sizesOf(number), bootId: `boot-${number}`, clock: () => now * 1000 }
    const store = await openTestStore(paths.root, options, disk)
    const wrong = await clients.check(store)
    if (life === 'loses power while it works') disk.left = 5 + random.below(300)
    await clients.run(store, random, now, life === 'stops in order' ? 8 : Number.POSITIVE_INFINITY)
    await (life === 'stops in order' ? store.close(true) : store.kill())
    return wrong
  } catch (error) {
    return disk.isOn ? [String(error)] : []
  }
}

interface Lives {
  readonly lived: number
  readonly acknowledged: number
  readonly wrong: readonly string[]
}

/** Lives on one data directory, until something is wrong or there were enough. */
async function liveAgainAndAgain(
  root: string,
  random: Random,
  cuts: number,
  lies: (call: SyncCall) => boolean = () => false,
): Promise<Lives> {
  const first = await openTestStore(root, { ...SIZES, clock: () => BEGINNING * 1000 })
  await first.close(true)
  const clients = new ModelledClients(CLIENTS)
  for (let cut = 1; cut <= cuts; cut += 1) {
    const life = random.of(LIVES)
    const disk = new PowerCutDisk(join(root, 'attic'))
    disk.lies = lies
    const wrong = await live(first.paths, life, disk, cut, clients, random)
    disk.cut(random)
    spoilProjections(first.paths, random)
    const report = await verifyJournal(first.paths.journal, { threads: 0, settleMilliseconds: 0 })
    wrong.push(...report.problems.map(({ verdict, detail }) => `${verdict}: ${detail}`))
    if (wrong.length > 0)
      return {
        lived: cut,
        acknowledged: clients.acknowledged,
        wrong: wrong.map((one) => `cut ${cut}, which ${life}: ${one}`),
      }
  }
  return { lived: cuts, acknowledged: clients.acknowledged, wrong: [] }
}

test(`J1 J5 J8 J9 J15 what was acknowledged survives power cuts, ${CUTS} of them`, async (t) => {
  t.testdir()
  t.comment(`POWER_SEED=${SEED}`)
  t.setTimeout(60_000 + CUTS * 1000)
  const random = new Random(SEED)
  for (let left = CUTS, store = 1; left > 0; left -= 25, store += 1) {
    const cuts = Math.min(left, 25)
    const { wrong, acknowledged } = await liveAgainAndAgain(join(t.testdirName, String(store)), random, cuts)
    t.same(wrong, [], `store ${store}: ${acknowledged} commands acknowledged`)
  }
})

test('J9 J16 a first start that loses power at any operation can be made again', async (t) => {
  t.testdir()
  t.comment(`POWER_SEED=${SEED}`)
  const random = new Random(SEED)
  let wasOn = false
  for (let operations = 1; !wasOn; operations += 1) {
    const root = join(t.testdirName, String(operations))
    fs.mkdirSync(root)
    const disk = new PowerCutDisk(join(root, 'attic'))
    disk.left = operations
    const store = await openTestStore(root, { ...SIZES, bootId: 'first' }, disk).catch(() => undefined)
    wasOn = disk.isOn
    await store?.kill()
    disk.cut(random)
    const again = await openTestStore(root, { ...SIZES, bootId: 'second' })
    await again.client.execute(createBucket('cut'))
    await again.close(true)
    const report = await verifyJournal(again.paths.journal, { threads: 0 })
    t.match(report, { intact: true, problems: [] }, `operation ${operations}`)
  }
})

/** Syncs that a store could forget, each with what would be lost. */
const LIES: Readonly<Record<string, (call: SyncCall) => boolean>> = {
  'the journal is not synced': ({ kind, path }) =>
    kind === 'file' && /journal\/(\d+\.segment|spare|rewrite)/.test(path),
  'volumes are not synced': ({ kind, path }) => kind === 'file' && /volumes\//.test(path),
  'uploads are not synced': ({ kind, path }) => kind === 'file' && /payloads\/tmp\//.test(path),
  'names of segments are not synced': ({ kind, path }) => kind === 'directory' && path.endsWith('/journal'),
  'names of volumes are not synced': ({ kind, path }) => kind === 'directory' && path.endsWith('/volumes'),
  'names of payload files are not synced': ({ kind, path }) => kind === 'directory' && /payloads\/files\//.test(path),
}

test('a disk that only pretends to sync is found out: this spec would notice a store that forgets to', async (t) => {
  t.testdir()
  t.comment(`POWER_SEED=${SEED}`)
  t.setTimeout(60_000 + Object.keys(LIES).length * CUTS_TO_NOTICE * 1000)
  for (const [index, [title, lies]] of Object.entries(LIES).entries()) {
    const root = join(t.testdirName, `lie-${index}`)
    const { lived, wrong } = await liveAgainAndAgain(root, new Random(SEED + index), CUTS_TO_NOTICE, lies)
    t.ok(wrong.length > 0, `${title}: found out at cut ${lived}: ${wrong[0]}`)
  }
})
