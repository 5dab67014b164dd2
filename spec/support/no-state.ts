/** A store that holds nothing, as the rules see it; a spec puts in what it is about. */
import type { LogicalUsage } from '../../engine/state-ports.ts'
import type { StoreState } from '../../engine/state-store.ts'
import type { CheckpointFacts } from '../../projections/checkpoints/checkpoint-facts.ts'

/** Of a store that signs no checkpoints. */
export const NO_CHECKPOINTS: CheckpointFacts = {
  isOn: false,
  treeSize: undefined,
  mendedHashes: 0,
  signed: 0,
  waitsFor: [],
  refusal: undefined,
  refusalCode: undefined,
}

export const NO_USAGE: LogicalUsage = { objects: 0, bytes: 0, noncurrentBytes: 0, uploadBytes: 0, receivedBytes: 0 }

export const NO_STATE: StoreState = {
  bucket: () => undefined,
  cors: () => [],
  bucketTags: () => [],
  lastRestore: () => undefined,
  object: () => undefined,
  version: () => undefined,
  newestVersion: () => undefined,
  bucketIsEmpty: () => true,
  logicalUsage: () => NO_USAGE,
  upload: () => undefined,
  uploads: () => [],
  part: () => undefined,
  parts: () => [],
  payload: () => undefined,
  references: () => 0,
  volumeIsSpent: () => false,
  features: {
    lifecycle: { lifecycleRules: () => [], bucketOfLifecycleRule: () => undefined },
    scrub: { scrubProgress: () => undefined },
    clock: { endsIn: () => false },
    checkpoints: {
      lastCheckpoint: () => undefined,
      checkpointHandovers: () => [],
      checkpointOfSize: () => undefined,
      receiptsOf: () => [],
      withheldCheckpoint: () => undefined,
      witnessedLog: () => undefined,
    },
    access: {
      account: () => undefined,
      titleIsTaken: () => false,
      credential: () => undefined,
      policy: () => undefined,
      policyIsAttached: () => false,
      bucketPolicy: () => undefined,
      token: () => undefined,
      endsIn: () => false,
    },
    webhooks: { webhook: () => undefined, webhookCount: 0, replayOf: () => undefined },
    links: {
      share: () => undefined,
      embed: () => undefined,
      shareCount: 0,
      embedCount: 0,
      sharesOfKey: () => 0,
      embedsOfKey: () => 0,
      endsIn: () => false,
    },
  },
}
