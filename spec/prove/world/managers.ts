/** Managers: buckets, quotas, objects and versions through the management plane, each answer judged by the model. */
import type { Quota } from '../../../engine/events/values.ts'
import { BUCKETS, KEYS, type Place } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Operation } from '../../model/expectation.ts'
import { allVersions, type Model } from '../../model/model.ts'
import * as buckets from '../../model/operations/managed-buckets.ts'
import * as objects from '../../model/operations/managed-objects.ts'
import { putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { wireId } from '../../model/state.ts'
import type { Random } from '../../support/random.ts'
import { stepByChance } from './step-by-chance.ts'

const REQUESTS_MAXIMUM = 12
const SIZES = [0, 1, 500, 2048, 2049, 9000] as const
const UNLIMITED: Quota = { bytes: undefined, objects: undefined }

type Kind = (model: Model, place: Place, random: Random) => Operation | undefined

function versionOf({ world }: Model, { bucket, key }: Place, random: Random): string | undefined {
  const versions = world.versions(world.buckets.get(bucket), key)
  const others = random.below(6) === 0 ? allVersions(world).map(({ version }) => version) : versions
  return others.length === 0 ? 'null' : wireId(random.of(others))
}

/** Around what is used now. */
function quotaBy({ world }: Model, bucket: string, random: Random): Quota {
  const there = world.buckets.get(bucket)
  const used = there === undefined ? { bytes: 0, objects: 0 } : world.usage(there)
  const near = (value: number) => random.of([undefined, Math.max(0, value - 1), value, value + 1, value + 501])
  return { bytes: near(used.bytes), objects: near(used.objects) }
}

/** @returns the sizes of a body that would fill a quota to the byte, or pass it by one */
function fillingSizes({ world }: Model, { bucket, key }: Place): number[] {
  const there = world.buckets.get(bucket)
  if (there?.quota.bytes === undefined) return []
  const room = there.quota.bytes - world.usage(there).bytes + (world.current(there, key)?.size ?? 0)
  return [room, room + 1].filter((size) => size >= 0)
}

function contentBy(model: Model, place: Place, random: Random) {
  return contentOf(random.below(4), random.of([...SIZES, ...fillingSizes(model, place)]))
}

const KINDS: readonly Kind[] = [
  (_, { bucket }, random) => buckets.createManagedBucket(random.of([bucket, 'spare', 'spare']), random.below(2) === 0),
  (_, { bucket }, random) => buckets.deleteManagedBucket(random.of([bucket, 'spare', 'spare'])),
  (_, { bucket }, random) => buckets.setManagedVersioning(bucket, random.of(['Enabled', 'Suspended'])),
  (_, { bucket }, random) =>
    buckets.setManagedRetention(
      bucket,
      random.of([undefined, undefined, { mode: random.of(['GOVERNANCE', 'COMPLIANCE']), unit: 'days', value: 1 }]),
    ),
  (model, { bucket }, random) => buckets.setManagedQuota(bucket, quotaBy(model, bucket, random)),
  (_, { bucket }) => buckets.setManagedQuota(bucket, UNLIMITED),
  (_, { bucket }) => buckets.getManagedBucket(bucket),
  (model, place, random) =>
    objects.putManaged(
      place,
      contentBy(model, place, random),
      random.of([undefined, 'text/plain']),
      random.below(3) === 0,
    ),
  // Over S3, so that a quota is met there as well.
  (model, place, random) =>
    putObject({ ...place, content: contentBy(model, place, random), headers: [], lock: {}, condition: UNCONDITIONAL }),
  (model, place, random) => {
    const { bucket, key } = random.of(allVersions(model.world).concat(allVersions(model.world).slice(0, 1))) ?? place
    const versionId = random.below(2) === 0 ? undefined : versionOf(model, { bucket, key }, random)
    return objects.copyManaged({ bucket, key, versionId }, place)
  },
  (model, place, random) => {
    const versionId = versionOf(model, place, random)
    return versionId === undefined ? undefined : objects.restoreManaged(place, versionId)
  },
  (_, place) => objects.deleteManaged(place),
  (model, place, random) => {
    const versionId = versionOf(model, place, random)
    return versionId === undefined ? undefined : objects.deleteManagedVersion(place, versionId)
  },
]

export const managerStep = stepByChance('a manager', async ({ model, world, place: chosen, random }) => {
  for (let count = 1 + random.below(REQUESTS_MAXIMUM); count > 0; count -= 1) {
    const place = random.of([
      chosen,
      chosen,
      { ...chosen, key: random.of(KEYS) },
      { ...chosen, bucket: random.of(BUCKETS) },
    ])
    const operation = random.of(KINDS)(model, place, random)
    if (operation !== undefined) await model.carryOut(world, operation, 'manager')
  }
  await compare(model, world)
})
