import { randomBytes } from 'node:crypto'
import { getLoad } from '../load.ts'
import { sampleOfObjects } from '../object-keys.ts'
import type { Scenario } from '../scenario.ts'
import { ALL_CONNECTIONS, bucketObjects, connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

export const get4Kib: Scenario = {
  name: 'get-4-kib',
  title: 'GET of 4 KiB, every one audited, all over a bucket',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const objects = bucketObjects(bench.settings.quick)
      await target.client.fill(target.bucket, 0, objects, randomBytes(SMALL_BYTES))
      const load = getLoad(target.bucket, sampleOfObjects(objects, objects), SMALL_BYTES, 'time')
      await bench.warmUp(target, load, USUAL_CONNECTIONS)
      for (const connections of ALL_CONNECTIONS) {
        await bench.measure(target, {
          figure: `get-4-kib-c${connections}`,
          label: `GET 4 KiB, ${connectionsText(connections)}`,
          load,
          connections,
          limits: ['http'],
        })
      }
    }),
}
