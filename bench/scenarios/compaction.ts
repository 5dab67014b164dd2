import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { COMPACTION_OBJECTS } from '../bars.ts'
import type { Bench, Target } from '../bench.ts'
import { withLargestSize } from '../directory-size.ts'
import { runFiller } from '../filler.ts'
import { randomPutLoad } from '../load.ts'
import type { Settings } from '../options.ts'
import type { Scenario } from '../scenario.ts'
import { SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'
import { recordsOf, type ShownRecord } from '../store-command.ts'
import type { LoadResult } from '../wrk.ts'

const BUCKET = 'overwritten'
/** The steady load: a fifth of what the server could take, so that its answers do not wait. */
const PER_SECOND = 2000
const PAUSE_MILLISECONDS = (1000 * USUAL_CONNECTIONS) / PER_SECOND
const WARM_UP_SECONDS_MAXIMUM = 3
/** Shares of the objects that are overwritten when the first measurement ends and when the second starts. */
const OVERWRITTEN = { idle: 0.26, busy: 0.42 } as const
/** Both are longer than other measurements; compaction must come to its own pace in the second. */
const IDLE_LONGER = 2.5
const BUSY_LONGER = 6
const VOLUME_MEBIBYTES = 64

/** A stretch of the load. */
interface Stretch {
  readonly result: LoadResult
  /** Milliseconds since the Unix epoch. */
  readonly since: number
  readonly until: number
}

/**
 * Compaction starts when the volumes hold 1.3 times what lives in them. So the same load of overwrites is measured
 * twice on the same store: before that, when the journal must show that compaction moved nothing, and after it, when it
 * moves payloads all the time. Keys are picked at random: were they overwritten in turn, volumes would die as a whole,
 * and nothing would have to be moved.
 */
export const compaction: Scenario = {
  name: 'compaction',
  title: 'Compaction of volumes under a steady load of PUTs of 4 KiB over random objects',
  needs: 'own server',
  async run(bench) {
    const dataDirectory = join(bench.directory, 'overwritten')
    const plan = planOf(bench.settings)
    // A smaller store has smaller volumes, so that it has as many of them.
    const volumeMebibytes = Math.max(1, Math.round((VOLUME_MEBIBYTES * plan.objects) / COMPACTION_OBJECTS))
    const settings = [`storage.volume_mib=${volumeMebibytes}`]
    try {
      await runFiller(bench.children, {
        kind: 'objects',
        dataDirectory,
        masterKey: bench.secrets.masterKey,
        settings,
        bucket: BUCKET,
        from: 0,
        count: plan.objects,
        objectBytes: SMALL_BYTES,
        overwrites: plan.overwritesBefore,
      })
      const work = (target: Target) => measureCompaction(bench, target, dataDirectory, plan)
      await bench.withServerOn(dataDirectory, BUCKET, work, settings)
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true })
    }
  },
}

interface Plan {
  readonly objects: number
  readonly warmUpSeconds: number
  readonly idleSeconds: number
  readonly busySeconds: number
  /** When the store is filled, so that all objects overwritten by the end of the first measurement are as many as wanted. */
  readonly overwritesBefore: number
}

function planOf({ objects: most, seconds }: Settings): Plan {
  const objects = Math.min(COMPACTION_OBJECTS, most)
  const overwrites = Math.floor(OVERWRITTEN.idle * objects)
  const secondsToBusy = Math.floor(overwrites / PER_SECOND)
  const warmUpSeconds = Math.min(WARM_UP_SECONDS_MAXIMUM, seconds)
  const idleSeconds = Math.max(1, Math.min(Math.floor(IDLE_LONGER * seconds), secondsToBusy - warmUpSeconds))
  const overwritesBefore = Math.max(0, overwrites - (warmUpSeconds + idleSeconds) * PER_SECOND)
  return { objects, warmUpSeconds, idleSeconds, busySeconds: BUSY_LONGER * seconds, overwritesBefore }
}

async function measureCompaction(bench: Bench, target: Target, dataDirectory: string, plan: Plan): Promise<void> {
  const { objects, busySeconds } = plan
  const body = randomBytes(SMALL_BYTES)
  const steady = (seconds: number) => runSteady(bench, target, objects, body, seconds)
  await steady(plan.warmUpSeconds)
  const idle = await steady(plan.idleSeconds)
  const overwrites = Math.ceil((OVERWRITTEN.busy - OVERWRITTEN.idle) * objects)
  const onwards = { ...randomPutLoad(target.bucket, objects, overwrites, body), order: 'once' } as const
  await bench.runLoad(target, onwards, USUAL_CONNECTIONS, busySeconds)
  const { volumes } = new StorePaths(dataDirectory)
  const { result: busy, largestBytes } = await withLargestSize(volumes, () => steady(busySeconds))
  const records = await recordsOf(bench, dataDirectory, 'volume.compact')
  const [movedIdle, movedBusy] = [payloadsMoved(records, idle), payloadsMoved(records, busy)]
  if (movedIdle > 0) throw new Error(`compaction moved ${movedIdle} payloads when it should have been idle`)
  if (movedBusy === 0) throw new Error('compaction moved nothing when it should have been at work')
  addLatencies(bench, idle, busy)
  bench.add({
    name: 'compaction-space-ratio',
    label: 'Largest size of the volumes on disk over the bytes of all objects',
    value: largestBytes / (objects * SMALL_BYTES),
    unit: 'ratio',
    note: `${objects.toLocaleString('en')} objects; the volume that is written and the next one, both allocated ahead, count as a whole`,
  })
  bench.add({
    name: 'compaction-write-amplification',
    label: 'Bytes moved by compaction for each byte written by clients',
    value: movedBusy / busy.result.answered,
    unit: 'ratio',
    note: `${movedBusy.toLocaleString('en')} payloads moved, ${busy.result.answered.toLocaleString('en')} written`,
  })
}

async function runSteady(
  bench: Bench,
  target: Target,
  objects: number,
  body: Buffer,
  seconds: number,
): Promise<Stretch> {
  const load = randomPutLoad(target.bucket, objects, PER_SECOND * seconds, body, PAUSE_MILLISECONDS)
  const since = Date.now()
  const result = await bench.runLoad(target, load, USUAL_CONNECTIONS, seconds)
  return { result, since, until: Date.now() }
}

/** Each move is a change of its own. */
function payloadsMoved(records: readonly ShownRecord[], { since, until }: Stretch): number {
  const during = records.filter(({ timestamp }) => Date.parse(timestamp) >= since && Date.parse(timestamp) < until)
  return during.reduce((sum, { changes }) => sum + changes.length, 0)
}

function addLatencies(bench: Bench, idle: Stretch, busy: Stretch): void {
  for (const [state, { result }] of [
    ['idle', idle],
    ['busy', busy],
  ] as const) {
    bench.add({
      name: `compaction-${state}-put-p99`,
      label: `p99 of PUTs of 4 KiB, compaction ${state === 'idle' ? 'idle' : 'at work'}`,
      value: result.latency.p99,
      unit: 'ms',
      latency: result.latency,
      note: `${Math.round(result.requestsPerSecond).toLocaleString('en')} a second on ${USUAL_CONNECTIONS} connections`,
    })
  }
  bench.add({
    name: 'compaction-put-p99-ratio',
    label: 'p99 with compaction at work over that with compaction idle',
    value: busy.result.latency.p99 / idle.result.latency.p99,
    unit: 'ratio',
  })
}
