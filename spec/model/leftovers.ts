/** The end of a sequence: what the store counts is what is there, and nothing is left of what is removed. */
import { DAY } from './choices.ts'
import { allVersions, type Model, type ModelStore } from './model.ts'
import { wireId } from './state.ts'
import { deleteObject } from './operations/deletions.ts'
import { putLegalHold } from './operations/locks.ts'
import { abortUpload } from './operations/multipart.ts'

/** What a store says of itself beside its answers. */
export interface StoreCounts {
  /** Current objects of a bucket and their bytes. */
  usage(bucket: string): { readonly objects: number; readonly bytes: number }
  /** Names what takes space on the disk or in the catalog after everything was deleted; empty when nothing does. */
  remains(): Promise<string[]>
}

/**
 * Compares the usage of each bucket, then deletes every version and upload that its lock lets go.
 * @throws Error when the usage is wrong, or something is left though every version could be deleted
 */
export async function requireNoLeftovers(model: Model, store: ModelStore, counts: StoreCounts): Promise<void> {
  for (const [name, bucket] of model.world.buckets) {
    const { objects, bytes } = counts.usage(name)
    const expected = model.world.usage(bucket)
    if (objects !== expected.objects || bytes !== expected.bytes) {
      throw new Error(
        `usage of ${name}: ${objects} objects, ${bytes} bytes, not ${expected.objects}, ${expected.bytes}`,
      )
    }
  }
  await passRetentions(model, store)
  for (const [name, bucket] of model.world.buckets) {
    for (const { key, id: uploadId = '' } of model.world.uploadsOf(bucket.id)) {
      await model.carryOut(store, abortUpload({ bucket: name, key, uploadId }))
    }
  }
  for (const { bucket, key, version } of allVersions(model.world)) {
    const name = { bucket, key, versionId: wireId(version) }
    if (version.lock?.hold === true) await model.carryOut(store, putLegalHold(name, false))
    await model.carryOut(store, deleteObject({ ...name, bypasses: true }))
  }
  if (allVersions(model.world).length > 0) return
  const remains = await counts.remains()
  if (remains.length > 0) throw new Error(`left behind: ${remains.join(', ')}`)
}

/** Sets the clock after the end of every retention but the farthest ones, which no clock of the store can reach. */
async function passRetentions(model: Model, store: ModelStore): Promise<void> {
  const { now } = model.moment
  const ends = allVersions(model.world).flatMap(({ version }) => version.lock?.retention?.untilMilliseconds ?? [])
  const clock = Math.max(now, ...ends.filter((end) => end < now + 1000 * DAY)) + 1
  model.log.push(`clock set to ${new Date(clock).toISOString()}`)
  await store.setClock(clock)
  model.setClock(clock)
}
