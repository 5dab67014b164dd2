import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Target } from '../bench.ts'
import { FILL_BUCKET } from '../filled-store.ts'
import { mixedLoad } from '../load.ts'
import { sampleOfObjects } from '../object-keys.ts'
import { memoryUsage } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

/** Time for the after-effects of a start to end. */
const SETTLE_MILLISECONDS = 2000

export const memory: Scenario = {
  name: 'memory',
  title: 'Resident set of the server',
  needs: 'own server',
  async run(bench) {
    const { objects, quick } = bench.settings
    const few = bucketObjects(quick)
    await bench.withTarget(async (target) => {
      await addMemory(bench, target, 'memory-idle', 'Idle, empty store')
      await target.client.fill(target.bucket, 0, few, randomBytes(SMALL_BYTES))
      await underLoad(bench, target, few)
      await addMemory(bench, target, 'memory-load', 'After 70 GET : 30 PUT of 4 KiB')
    })
    await bench.filled.fillTo(objects)
    await bench.withServerOn(bench.filled.directory, FILL_BUCKET, async (target) => {
      const count = objects.toLocaleString('en')
      await addMemory(bench, target, 'memory-objects-idle', `Idle, ${count} objects`)
      await underLoad(bench, target, objects)
      await addMemory(bench, target, 'memory-objects-load', `After 70 GET : 30 PUT of 4 KiB, ${count} objects`)
    })
  },
}

async function underLoad(bench: Bench, target: Target, objects: number): Promise<void> {
  const load = mixedLoad(target.bucket, sampleOfObjects(objects, bucketObjects(false)), randomBytes(SMALL_BYTES))
  await bench.runLoad(target, load, USUAL_CONNECTIONS, bench.settings.seconds)
}

async function addMemory(bench: Bench, target: Target, name: string, label: string): Promise<void> {
  if (target.pid === undefined) throw new Error('the process of the server is not known')
  if (name.endsWith('idle')) await sleep(SETTLE_MILLISECONDS)
  const { resident, anonymous, file, peak } = memoryUsage(target.pid)
  const parts = [`${anonymous.toFixed(0)} MiB anonymous`, `${file.toFixed(0)} MiB of mapped files`]
  bench.add({ name, label, value: resident, unit: 'MiB', note: `${parts.join(', ')}; peak ${peak.toFixed(0)} MiB` })
}
