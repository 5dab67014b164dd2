import { randomBytes } from 'node:crypto'
import { indexRange, putLoad } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { ALL_CONNECTIONS, connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

/** Keys made for each second of a measurement; a server that is quicker overwrites them from the first one on. */
const KEYS_PER_SECOND = 10_000
/** One connection waits for a sync each time, and needs fewer. */
const KEYS_PER_SECOND_AND_CONNECTION = 1500
const WARM_UP_KEYS = 10_000

export const put4Kib: Scenario = {
  name: 'put-4-kib',
  title: 'PUT of 4 KiB, each one durable, each to a key of its own',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const body = randomBytes(SMALL_BYTES)
      let used = 0
      const newKeys = (count: number) => {
        used += count
        return putLoad(target.bucket, indexRange(used - count, count), body, 'time')
      }
      await bench.warmUp(target, newKeys(WARM_UP_KEYS), USUAL_CONNECTIONS)
      for (const connections of ALL_CONNECTIONS) {
        const rate = Math.min(KEYS_PER_SECOND, KEYS_PER_SECOND_AND_CONNECTION * connections)
        await bench.measure(target, {
          figure: `put-4-kib-c${connections}`,
          label: `PUT 4 KiB, ${connectionsText(connections)}`,
          load: newKeys(rate * bench.settings.seconds),
          connections,
          limits: ['sync-preallocated'],
        })
      }
    }),
}
