import { randomBytes } from 'node:crypto'
import { mixedLoad } from '../load.ts'
import { sampleOfObjects } from '../object-keys.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

export const mixed: Scenario = {
  name: 'mixed',
  title: 'Seven GETs for every three PUTs of 4 KiB, over the same objects',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const objects = bucketObjects(bench.settings.quick)
      const body = randomBytes(SMALL_BYTES)
      await target.client.fill(target.bucket, 0, objects, body)
      const load = mixedLoad(target.bucket, sampleOfObjects(objects, objects), body)
      await bench.warmUp(target, load, USUAL_CONNECTIONS)
      await bench.measure(target, {
        figure: `mixed-c${USUAL_CONNECTIONS}`,
        label: `70 GET : 30 PUT of 4 KiB, ${USUAL_CONNECTIONS} connections`,
        load,
        connections: USUAL_CONNECTIONS,
        limits: ['http'],
      })
    }),
}
