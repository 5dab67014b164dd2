/** After the load: everything acknowledged is there, everything else is given back, and the journal tells the same. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { bytesIn, faultsAtRest, surplusFiles } from '../store-at-rest.ts'
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

/** When no server runs any more. Returns a line about sizes. @param live bytes of what lives in the payloads */
export async function checkAtRest(paths: StorePaths, live: number, tally: Tally): Promise<string> {
  const { faults, records } = await faultsAtRest(paths)
  for (const fault of faults) tally.finding('lost', fault)
  for (const path of await surplusFiles(paths)) tally.finding('growth', `the payload file ${path} belongs to nothing`)
  const [journal, projections] = [bytesIn(paths.journal), bytesIn(paths.projections)]
  if (journal > JOURNAL_BYTES_PER_RECORD * records) tally.finding('growth', `the journal holds ${journal} bytes`)
  if (projections > PROJECTION_BYTES_STANDING + PROJECTION_BYTES_PER_RECORD * records) {
    tally.finding('growth', `the projections hold ${projections} bytes`)
  }
  const sizes = { journal, projections, payloads: bytesIn(paths.payloads), live }
  const words = Object.entries(sizes).map(([name, bytes]) => `${name} ${(bytes / MEBIBYTE).toFixed(0)} MiB`)
  return `${records} records: ${words.join(', ')}`
}
