/** Buckets that are deleted while uploads are in progress in them, and may come back under the same name. */
import * as fc from 'fast-check'
import { KEYS } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Operation } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { createBucket, deleteBucket } from '../../model/operations/buckets.ts'
import { deleteManagedBucket } from '../../model/operations/managed-buckets.ts'
import { abortUpload, createUpload, uploadPart } from '../../model/operations/multipart.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'

const BUCKET = 'short-lived'
const UPLOADS_MAXIMUM = 3
const SIZES = [1, 500, 2049] as const

class DeletedBucket extends Step {
  readonly #seed: number

  constructor(seed: number) {
    super('a bucket is deleted while uploads are in progress in it')
    this.#seed = seed
  }

  override check({ worlds, world }: Model): boolean {
    return worlds.length === 1 && !world.buckets.has(BUCKET)
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    model.log.push(String(this))
    await carryOut(model, store, createBucket(BUCKET, random.below(2) === 0))
    for (let count = 1 + random.below(UPLOADS_MAXIMUM); count > 0; count -= 1) {
      const key = random.of(KEYS)
      const { text } = await carryOut(model, store, createUpload(BUCKET, key, [], {}))
      const upload = { bucket: BUCKET, key, uploadId: firstElement(text, 'UploadId') ?? '' }
      for (let part = random.below(3); part > 0; part -= 1) {
        await carryOut(model, store, uploadPart(upload, part, contentOf(part, random.of(SIZES))))
      }
      if (random.below(4) === 0) await carryOut(model, store, abortUpload(upload))
    }
    await carryOut(model, store, random.of([deleteBucket, deleteManagedBucket])(BUCKET))
    if (random.below(2) === 0) {
      await carryOut(model, store, createBucket(BUCKET, false))
      await compare(model, store)
      await carryOut(model, store, deleteBucket(BUCKET))
    }
    await compare(model, store)
  }
}

function carryOut(model: Model, store: ModelStore, operation: Operation): Promise<WireAnswer> {
  return model.carryOut(store, operation, 'deleted bucket')
}

export const deletedBucketStep: fc.Arbitrary<Step> = fc.nat(2 ** 31 - 1).map((seed) => new DeletedBucket(seed))
