import { randomBytes } from 'node:crypto'
import { deleteLoad, indexRange, putLoad } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

/** Objects stored for each second of the measurement, when the server is quick enough. */
const OBJECTS_PER_SECOND = 10_000
/** The part of the objects that one connection alone has time for. */
const SHARE_OF_ONE_CONNECTION = 0.2

export const deleteObjects: Scenario = {
  name: 'delete',
  title: 'DELETE of objects of 4 KiB, each one once',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const { seconds } = bench.settings
      const planned = indexRange(0, OBJECTS_PER_SECOND * seconds)
      const fill = putLoad(target.bucket, planned, randomBytes(SMALL_BYTES), 'time')
      const { answered } = await bench.runLoad(target, fill, USUAL_CONNECTIONS, seconds)
      // Requests were sent in order; only the ones in flight at the end may not have been carried out.
      const stored = planned.slice(0, Math.max(0, answered - USUAL_CONNECTIONS))
      const parts = Math.floor(stored.length * SHARE_OF_ONE_CONNECTION)
      const runs = [
        { connections: 1, indexes: stored.slice(0, parts) },
        { connections: USUAL_CONNECTIONS, indexes: stored.slice(parts) },
      ]
      for (const { connections, indexes } of runs) {
        await bench.measure(target, {
          figure: `delete-c${connections}`,
          label: `DELETE, ${connectionsText(connections)}`,
          load: deleteLoad(target.bucket, indexes),
          connections,
          limits: ['sync-preallocated'],
        })
      }
    }),
}
