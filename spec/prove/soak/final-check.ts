/** After the load: everything acknowledged is there, everything else is given back, and the journal tells the same. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyJournal } from '../../../cli/journal-verify/journal-verifier.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { checkProjections } from '../../../projections/check.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { PAYLOAD_FILES } from '../../../projections/tables/payloads.ts'
import { type Clients, mustBe } from './actor.ts'
import { gaugesOf } from './quiet-point.ts'
import type { Tally } from './tally.ts'

const LOOK_MILLISECONDS = 200
const SETTLE_MILLISECONDS_MAXIMUM = 60_000
const MEBIBYTE = 1024 ** 2
/** What compaction leaves alone (`workers/compact-volumes.ts`), with a hair's breadth for frames. */
const HELD_PER_LIVE = 1.35
const ENTRIES_MAXIMUM = 10_000_000
/** History is kept for ever: it grows with the records, and by no more than this for each. */
const JOURNAL_BYTES_PER_RECORD = 1024
/** The index of the audit log, beside everything that lives. */
const PROJECTION_BYTES_PER_RECORD = 100
const PROJECTION_BYTES_STANDING = 64 * MEBIBYTE

/** Sizes at the end, in bytes. */
export interface FinalSizes {
  readonly records: number
  readonly journal: number
  readonly payloads: number
  /** What lives in the payloads. */
  readonly live: number
  readonly projections: number
}

/**
 * While the server of the last life still runs and nobody asks it for anything.
 * @throws NoAnswerError, WrongAnswerError
 */
export async function checkRunning(
  clients: Clients,
  paths: StorePaths,
  buckets: readonly string[],
  volumeMebibytes: number,
  tally: Tally,
): Promise<number> {
  await settles(tally, async () => {
    const { temporary } = await gaugesOf(clients)
    return temporary === 0 ? undefined : `${temporary} temporary bytes are left when no upload is`
  })
  await settles(tally, async () => {
    const query = `?maximum_entries=${ENTRIES_MAXIMUM}`
    const answer = mustBe('inspect', await clients.api.call('GET /storage/inspect', {}, { query }), 200)
    const { consistent } = answer.json as { readonly consistent: boolean }
    return consistent ? undefined : `files and rows do not belong together: ${answer.text}`
  })
  for (const bucket of buckets) {
    const answer = mustBe(bucket, await clients.api.call('POST /verify/buckets/{bucket}', { bucket }), 200)
    const { damaged } = answer.json as { readonly damaged: number }
    if (damaged > 0) tally.finding('lost', `${bucket}: ${answer.text}`)
  }
  const { physical } = await gaugesOf(clients)
  await settles(tally, async () => {
    const held = bytesIn(paths.payloads)
    // The volume that is written, its spare, and those that compaction has not yet come to.
    const allowed = HELD_PER_LIVE * physical + 4 * volumeMebibytes * MEBIBYTE
    return held <= allowed ? undefined : `payloads hold ${held} bytes on the disk, and ${physical} of them live`
  })
  return physical
}

/** Looks until nothing is wrong any more, for a while. */
async function settles(tally: Tally, look: () => Promise<string | undefined>): Promise<void> {
  const until = performance.now() + SETTLE_MILLISECONDS_MAXIMUM
  for (;;) {
    const wrong = await look()
    if (wrong === undefined) return
    if (performance.now() > until) {
      tally.finding('growth', wrong)
      return
    }
    await sleep(LOOK_MILLISECONDS)
  }
}

/** When no server runs any more. */
export async function checkAtRest(paths: StorePaths, live: number, tally: Tally): Promise<FinalSizes> {
  const { intact, problems, openSegmentTornTail } = await verifyJournal(paths.journal)
  if (!intact) tally.finding('lost', `the journal is damaged: ${JSON.stringify(problems)}`)
  if (openSegmentTornTail !== undefined) tally.finding('lost', 'the journal ends torn after an orderly end')
  const { records, differenceCount, differences } = await checkProjections(nodeDisk, paths)
  if (differenceCount > 0) tally.finding('lost', `${differenceCount} rows differ: ${JSON.stringify(differences[0])}`)
  for (const left of await leftovers(paths)) tally.finding('growth', left)
  const journal = bytesIn(paths.journal)
  const projections = bytesIn(paths.projections)
  if (journal > JOURNAL_BYTES_PER_RECORD * records) tally.finding('growth', `the journal holds ${journal} bytes`)
  if (projections > PROJECTION_BYTES_STANDING + PROJECTION_BYTES_PER_RECORD * records) {
    tally.finding('growth', `the projections hold ${projections} bytes`)
  }
  return { records, journal, payloads: bytesIn(paths.payloads), live, projections }
}

async function leftovers(paths: StorePaths): Promise<string[]> {
  const projections = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    const known = new Set(Array.from(projections.table(PAYLOAD_FILES).keys({}), (key) => key.toString()))
    const found = filesIn(paths.files).map((path) => path.slice(-28))
    return [
      ...found.filter((name) => !known.has(name)).map((name) => `the payload file ${name} belongs to nothing`),
      ...filesIn(paths.uploads).map((path) => `${path} is left of an upload`),
      ...readdirSync(paths.journal)
        .filter((name) => /rewrite|making|spare/.test(name))
        .map((name) => `${name} is left half made`),
    ]
  } finally {
    await projections.close()
  }
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Files that go away while they are looked at count nothing. */
function bytesIn(directory: string): number {
  return filesIn(directory).reduce((total, path) => total + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
}
