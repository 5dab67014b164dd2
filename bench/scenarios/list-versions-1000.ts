import { LIST_KEYS, listVersionsLoad } from '../load.ts'
import { requireElements } from '../page-elements.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, connectionsText, USUAL_CONNECTIONS } from '../sizes.ts'

const CONNECTIONS = [1, USUAL_CONNECTIONS] as const
const VERSIONS = 10
/** Listings read no bodies. */
const BODY = Buffer.from('x')

export const listVersions1000: Scenario = {
  name: 'list-versions-1000',
  title: `ListObjectVersions of ${LIST_KEYS} versions, ${VERSIONS} of each key, from places all over a bucket`,
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const objects = bucketObjects(bench.settings.quick) / VERSIONS
      await target.client.enableVersioning(target.bucket)
      for (let round = 0; round < VERSIONS; round += 1) await target.client.fill(target.bucket, 0, objects, BODY)
      const load = listVersionsLoad(target.bucket, objects, VERSIONS)
      await requireElements(target, load, 'Version', LIST_KEYS)
      await bench.warmUp(target, load, USUAL_CONNECTIONS)
      for (const connections of CONNECTIONS) {
        await bench.measure(target, {
          figure: `list-versions-1000-c${connections}`,
          label: `LIST of ${LIST_KEYS} versions, ${connectionsText(connections)}`,
          load,
          connections,
          limits: ['http'],
        })
      }
    }),
}
