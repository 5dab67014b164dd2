/** A checkpoint is signed between the look at the last one and the record of the hand-over: it is made anew (T11). */
import { test } from 'tap'
import { DomainError } from '../../../engine/errors.ts'
import { CheckpointKeys } from '../../../engine/checkpoints/checkpoint-keys.ts'
import { storeKeys } from '../../../engine/keys/store-keys.ts'
import { rotateCheckpointKey } from '../../../planes/management/checkpoints/rotate-checkpoint-key.ts'
import { MASTER_KEY } from '../../support/test-store.ts'

type Route = typeof rotateCheckpointKey
const keys = new CheckpointKeys(storeKeys(MASTER_KEY, Buffer.alloc(16, 1)))

/** A log that grows by one checkpoint before each of the first `overtaken` records. */
function growing(overtaken: number) {
  let [size, looks, retries] = [1, 0, 0]
  const lastOf = () => ({ origin: 'spec', size, root: Buffer.alloc(32, size), publicKey: keys.newest(0).publicKey })
  const checkpoints = { handingOver: () => ({ last: (looks++, lastOf()), handover: undefined }) }
  const journal = {
    async execute({ handover }: { handover: { size: number } }): Promise<void> {
      if (looks <= overtaken) size += 1
      if (handover.size !== size) throw new DomainError('checkpoint-handover-refused')
    },
    retry: () => void (retries += 1),
  }
  const parts = [{ journal }, { checkpoints, checkpointKeys: keys }] as unknown as Parameters<Route['handle']>
  return { rotate: async () => rotateCheckpointKey.handle(...parts), seen: () => ({ size, looks, retries }) }
}

test('a hand-over that checkpoints overtake is made for the last one, and each try is recorded', async (t) => {
  const log = growing(3)
  t.match(await log.rotate(), { status: 200 })
  t.same(log.seen(), { size: 4, looks: 4, retries: 3 })
})

test('a log that never holds still is refused after ten tries', async (t) => {
  const log = growing(Number.POSITIVE_INFINITY)
  await t.rejects(log.rotate(), { code: 'checkpoint-handover-refused' })
  t.same(log.seen(), { size: 11, looks: 10, retries: 9 })
})
