/** What the catalog counts of each bucket, held against the model. */
import { bucketIdOf } from '../../../engine/brands.ts'
import { sameText } from '../../model/operations/buckets.ts'
import type { Model } from '../../model/model.ts'
import type { WorldServer } from './world-server.ts'

/** All but the bytes that were ever received, which are counted as they are stored: encrypted ones are longer. */
const KINDS = ['objects', 'bytes', 'noncurrent', 'noncurrentBytes', 'markers', 'uploadBytes'] as const

/**
 * Objects, versions, markers and bytes of parts are counted as they are. While it is not known what became of
 * a request nothing is compared.
 * @throws Error when something is counted otherwise
 */
export function requireUsage({ worlds, world }: Model, { store }: WorldServer): void {
  if (worlds.length > 1) return
  const catalog = store.catalog.snapshot()
  for (const [name, bucket] of world.buckets) {
    const counted = catalog.bucketUsage(bucketIdOf(catalog.bucket(name)?.id ?? 0))
    const expected = world.usage(bucket)
    const problem = sameText(
      KINDS.map((kind) => [kind, counted[kind]]),
      KINDS.map((kind) => [kind, expected[kind]]),
    )
    if (problem !== undefined) throw new Error(`usage of ${name}: ${problem}`)
  }
}
