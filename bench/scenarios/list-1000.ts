import type { Bench, Target } from '../bench.ts'
import { LIST_KEYS, type Load, listLoad } from '../load.ts'
import { requireElements } from '../page-elements.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, connectionsText } from '../sizes.ts'

const CONNECTIONS = [1, 8, 32] as const
/** LIST reads no bodies. */
const BODY = Buffer.from('x')

export const list1000: Scenario = {
  name: 'list-1000',
  title: `ListObjectsV2 of ${LIST_KEYS} keys, from places all over a bucket`,
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const objects = bucketObjects(bench.settings.quick)
      await target.client.fill(target.bucket, 0, objects, BODY)
      const load = listLoad(target.bucket, objects)
      await requireElements(target, load, 'Key', LIST_KEYS)
      await measureLists(bench, target, load)
    }),
}

async function measureLists(bench: Bench, target: Target, load: Load): Promise<void> {
  await bench.warmUp(target, load, CONNECTIONS[1])
  for (const connections of CONNECTIONS) {
    await bench.measure(target, {
      figure: `list-1000-c${connections}`,
      label: `LIST of ${LIST_KEYS} keys, ${connectionsText(connections)}`,
      load,
      connections,
      limits: ['http'],
    })
  }
}
