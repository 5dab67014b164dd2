/** One flipped byte in each kind of file under each reader: what else there is is shown, the damage is named, exit codes say so. */
import { cpSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { createBucket, write, writeFile } from '../support/commands.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { flipByteInPlace, segmentNames } from '../support/journal-files.ts'
import { MASTER_KEY, openTestStore, readObject, someBytes, storeFile, type TestStore } from '../support/test-store.ts'
import { run } from './command-runner.ts'

const SMALL = someBytes(2000)
const LARGE = someBytes(150_000)
const ENVIRONMENT = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex') }
const EVER = { sinceMicroseconds: microsecondsOf(0), untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY) }
const RANGE = { fromMicroseconds: EVER.sinceMicroseconds, toMicroseconds: EVER.untilMicroseconds }

/** What readers make of a store: a code of a command, `whole`, or the kind of damage that they name. */
interface Reading {
  readonly verify: number
  readonly show: number
  /** Runs of records that a query, in both directions, an export and a check of the chain name. */
  readonly query: number
  readonly newestFirst: number
  readonly exported: number
  readonly chain: number
  readonly small: string
  readonly large: string
  /** A start after that. */
  readonly start: string
}

const WHOLE: Reading = {
  verify: 0,
  show: 0,
  query: 0,
  newestFirst: 0,
  exported: 0,
  chain: 0,
  small: 'whole',
  large: 'whole',
  start: 'opens',
}
/** A batch of the journal that cannot be read: each reader of the journal names it once. */
const ONE_BATCH = { verify: 21, show: 21, query: 1, newestFirst: 1, exported: 1, chain: 1 } as const

type Flip = (paths: StorePaths) => void

const segment = (paths: StorePaths, index: number) => join(paths.journal, segmentNames(paths).at(index) ?? '')

/** The first byte of a record about an object, in the middle of a segment. */
function flipRecord(path: string): void {
  const bytes = readFileSync(path)
  const at = bytes.indexOf('damaged/object-', Math.floor(bytes.length / 8))
  if (at < 0) throw new Error(`${path} has no such record`)
  flipByteInPlace(path, at)
}

function onlyFile(paths: StorePaths): string {
  const [found] = readdirSync(paths.files, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  if (found === undefined) throw new Error('there is no payload file')
  return join(found.parentPath, found.name)
}

const CASES: readonly (readonly [kind: string, flip: Flip, differs: Partial<Reading>])[] = [
  ['nothing', () => undefined, {}],
  ['an open segment', (paths) => flipRecord(segment(paths, -1)), { ...ONE_BATCH, start: 'JournalDamagedError' }],
  // A start reads header and seal alone of a sealed segment.
  ['a sealed segment', (paths) => flipRecord(segment(paths, -2)), ONE_BATCH],
  // So short a one is one block, which has its header too. Everything in it is applied, so a start goes on without it.
  ['a cold segment', (paths) => flipByteInPlace(segment(paths, 0), 2000), ONE_BATCH],
  ['a header of a segment', (paths) => flipByteInPlace(segment(paths, -2), 20), { verify: 21, show: 21, chain: 1 }],
  ['the key file', (paths) => flipByteInPlace(paths.keys, 30), {}],
  ['HEAD', (paths) => flipByteInPlace(paths.head, 20), {}],
  [
    'a volume',
    (paths) => {
      const path = join(paths.volumes, '0000000000.volume')
      flipByteInPlace(path, readFileSync(path).indexOf(SMALL) + 5)
    },
    { small: 'PayloadDamagedError' },
  ],
  ['a payload file', (paths) => flipByteInPlace(onlyFile(paths), 70_000), { large: 'PayloadDamagedError' }],
]

const outcome = (work: Promise<Buffer | undefined>, expected: Buffer) =>
  work.then(
    (bytes) => (bytes?.equals(expected) === true ? 'whole' : 'other bytes'),
    (error: Error) => error.name,
  )

/** What readers make of an open store, and of its files. */
async function reading(store: TestStore, log: AuditLog): Promise<Omit<Reading, 'start'>> {
  const { root } = store.paths
  const command = (...argv: string[]) => run([...argv, '--data-dir', root], { environment: ENVIRONMENT })
  const last = log.head.sequence
  return {
    verify: (await command('journal', 'verify')).exitCode,
    show: (await command('journal', 'show', '--operation', 'none')).exitCode,
    query: (await log.query({ ...EVER, limit: 10_000 }, serverTurns)).damage.count,
    newestFirst: (await log.query({ ...EVER, limit: 10_000, newestFirst: true }, serverTurns)).damage.count,
    exported: (await log.survey(RANGE, serverTurns)).damage.count,
    chain: (await log.chain(sequenceOf(0), last + 1)).problems.length,
    small: await outcome(readObject(store, 'damaged', 'small'), SMALL),
    large: await outcome(readObject(store, 'damaged', 'large'), LARGE),
  }
}

/** A store with a cold, a sealed and an open segment, made once. */
async function makeStore(root: string): Promise<void> {
  const store = await openTestStore(root, { segmentBytes: 64 * 1024 })
  await store.client.execute(createBucket('damaged'))
  await store.client.execute(write('damaged', 'small', SMALL))
  await store.client.execute(writeFile('damaged', 'large', LARGE, await storeFile(store, LARGE)))
  for (let count = 0; count < 320; count += 1) {
    await store.client.execute(write('damaged', `object-${count}`, Buffer.from('x')))
  }
  await store.close(true)
  await compressJournal(store.paths, 2)
}

async function tried(t: Test, made: string, flip: Flip): Promise<Reading> {
  const root = join(t.testdir(), 'data')
  cpSync(made, root, { recursive: true })
  const store = await openTestStore(root, { segmentBytes: 64 * 1024 })
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const log = new AuditLog(store.disk, store.paths, environment)
  flip(store.paths)
  const read = await reading(store, log)
  await environment.close()
  await store.close(store.failures.length === 0)
  const start = await openTestStore(root, { segmentBytes: 64 * 1024 }).then(
    async (again) => {
      await again.close(true)
      return 'opens'
    },
    (error: Error) => error.name,
  )
  return { ...read, start }
}

test('a flipped byte in each kind of file', async (t) => {
  const made = join(t.testdir(), 'made')
  await makeStore(made)
  t.ok(segmentNames(new StorePaths(made)).length >= 3)
  for (const [kind, flip, differs] of CASES) {
    await t.test(kind, async (each) => {
      each.same(await tried(each, made, flip), { ...WHOLE, ...differs })
    })
  }
})
