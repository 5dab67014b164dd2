/** A store that holds nothing, as the rules see it; a spec puts in what it is about. */
import type { StateReader } from '../../engine/state-ports.ts'

export const NO_STATE: StateReader = {
  bucket: () => undefined,
  cors: () => [],
  lifecycleRules: () => [],
  bucketOfLifecycleRule: () => undefined,
  object: () => undefined,
  version: () => undefined,
  newestVersion: () => undefined,
  bucketIsEmpty: () => true,
  logicalUsage: () => ({ objects: 0, bytes: 0 }),
  upload: () => undefined,
  part: () => undefined,
  parts: () => [],
  payload: () => undefined,
  volumeIsSpent: () => false,
  account: () => undefined,
  credential: () => undefined,
  policy: () => undefined,
  policyIsAttached: () => false,
  webhook: () => undefined,
  webhookCount: 0,
  replayOf: () => undefined,
  token: () => undefined,
}
