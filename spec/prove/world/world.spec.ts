import { createHash } from 'node:crypto'
import { test } from 'tap'
import type { Disk } from '../../../engine/disk/disk.ts'
import { acknowledgingFirst, FILES, withoutNames, withoutSync } from '../mutants/broken-disks.ts'
import { shrink } from './shrink.ts'
import { storyOf } from './story.ts'
import { runWorld, type WorldOptions, type WorldReport } from './world.ts'

const STEPS = 30
/** Kinds of steps of worlds whose seeds were chosen: what is added later does not change them. */
const INHABITANTS = 6

/** A world and every byte of what its clients sent and were answered, as a digest. */
async function lived(
  seed: number,
  options: WorldOptions = {},
  inhabitants?: number,
): Promise<WorldReport & { readonly transcript: string }> {
  const transcript = createHash('sha256')
  const report = await runWorld(
    { seed, steps: STEPS, ...(inhabitants !== undefined && { inhabitants }) },
    { ...options, record: (line) => transcript.update(`${line}\n`) },
  )
  return { ...report, transcript: transcript.digest('hex') }
}

test('the same seed gives the same run to the byte, whatever ran before it in the process', async (t) => {
  const first = await lived(1)
  const other = await lived(2)
  const again = await lived(1)
  t.equal(first.finding, undefined)
  t.equal(other.finding, undefined)
  t.ok(first.requests > 50, `${first.requests} requests`)
  t.ok(first.restarts > 0, 'and a host that was struck or started again')
  t.equal(again.transcript, first.transcript)
  t.same(again.log, first.log)
  t.not(other.transcript, first.transcript)
})

test('real clocks, timers and chance are back after a world', async (t) => {
  const { setTimeout: timer, setImmediate: turn } = globalThis
  const [now, stopwatch] = [Date.now, performance.now]
  await lived(3)
  t.same([globalThis.setTimeout, globalThis.setImmediate, Date.now, performance.now], [timer, turn, now, stopwatch])
  await new Promise((resolve) => setTimeout(resolve, 1))
  t.ok(Date.now() > Date.UTC(2020, 0), 'and go')
})

/** Stores that are broken on purpose, each with a world in which that shows. */
const BROKEN: Readonly<Record<string, readonly [seed: number, wrap: (disk: Disk) => Disk]>> = {
  'the journal is not synced': [2, (disk) => withoutSync(disk, FILES.journal)],
  'volumes are not synced': [2, (disk) => withoutSync(disk, FILES.volumes)],
  'names of payload files are not synced': [2, (disk) => withoutNames(disk, /\/payloads\/files/)],
  'acknowledged before the sync': [2, acknowledgingFirst],
}

function wrap(disk: Disk): Disk {
  return withoutSync(disk, FILES.journal)
}

test('a store that is broken is found out, and its story is made short', async (t) => {
  for (const [name, [seed, breaks]] of Object.entries(BROKEN)) {
    const { finding } = await lived(seed, { wrap: breaks }, INHABITANTS)
    t.type(finding, 'string', `${name}: ${finding?.slice(0, 100)}`)
  }
  const { world } = await shrink({ seed: 2, steps: STEPS, inhabitants: INHABITANTS }, 60, { wrap })
  t.ok((world.kept?.length ?? STEPS) <= 6, `${world.kept?.length} of ${STEPS} steps are left`)
  const again = await runWorld(world, { wrap })
  t.type(again.finding, 'string')
  const story = storyOf(again.log)
  t.match(story[0], /^1\. A client makes the bucket plain: 200\.$/)
  t.match(story.join('\n'), /the power goes|the process is killed|the disk has a fault/i)
})
