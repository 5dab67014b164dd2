/** A store whose checkpoints are written to a lock before they are published. */
import { setTimeout as pause } from 'node:timers/promises'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { CheckpointLock } from '../../workers/checkpoints/lock-checkpoints.ts'
import type { LockPlace } from '../../workers/checkpoints/lock-place.ts'
import { CheckpointPublication } from '../../workers/checkpoints/publish-checkpoints.ts'
import { signingOf, type TestSigning } from './checkpoint-signing.ts'
import { createBucket } from './commands.ts'
import { openTestStore, type TestStore } from './test-store.ts'

const HOUR = 3_600_000
const KEY = new SigningKey(Buffer.alloc(32, 3))

export interface LockedLog {
  readonly store: TestStore
  readonly signing: TestSigning
  readonly lock: CheckpointLock
  readonly publication: CheckpointPublication
  /** Messages of attempts that failed. */
  readonly failures: string[]
  /** Writes a record, and signs when that is allowed. */
  sign(): Promise<CheckpointState | undefined>
  /** One attempt at the lock, with its end, and what may be published then. */
  attempt(): Promise<void>
  close(): Promise<void>
}

/** Clocks of all of them: each process begins later than those before. */
let now = Date.UTC(2026, 0, 1)
let buckets = 0

export async function lockedLog(
  root: string,
  place: LockPlace,
  { name = 'spec.log', key = KEY, timeoutMilliseconds = 20_000 } = {},
): Promise<LockedLog> {
  now += HOUR
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const failures: string[] = []
  let timer = 0
  /** Attempts that came to an end. */
  const attempts = { ended: 0 }
  const lock: CheckpointLock = new CheckpointLock(
    {
      execute: async (command) => {
        const outcome = await store.client.execute(command)
        attempts.ended += 1
        return outcome
      },
    },
    { ...bound(() => signing.reader) },
    {
      place,
      origin: { name, deploymentId: store.deploymentId },
      publicKeys: () => [KEY.publicKey],
      timeoutMilliseconds,
      timer: () => timer,
      onFailure: (error) => {
        attempts.ended += 1
        failures.push((error as Error).message)
      },
      onContradiction: (by, seen) => {
        attempts.ended += 1
        signing.worker.contradicted(by, seen)
      },
    },
  )
  const signing: TestSigning = signingOf(store, {
    clock: () => now,
    name,
    key,
    memories: [lock],
    withholds: () => true,
  })
  const publication = new CheckpointPublication(store.client, signing.reader, [lock])
  return {
    store,
    signing,
    lock,
    publication,
    failures,
    async sign() {
      await store.client.execute(createBucket(`bucket-${(buckets += 1)}`))
      now += HOUR
      await signing.settle()
      return signing.reader.state().last
    },
    async attempt() {
      const before = attempts.ended
      timer += HOUR
      await lock.step()
      while (attempts.ended === before) await pause(2)
      await publication.step()
    },
    async close() {
      await lock.close()
      await signing.close()
      await store.close(true)
    },
  }
}

function bound(reader: () => TestSigning['reader']): ConstructorParameters<typeof CheckpointLock>[1] {
  return {
    state: () => reader().state(),
    last: () => reader().last(),
    signedOfSize: (size) => reader().signedOfSize(size),
    receiptsOf: (size) => reader().receiptsOf(size),
  }
}
