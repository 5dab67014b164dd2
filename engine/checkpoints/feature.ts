import * as changes from './changes.ts'
import { isSignedByBoth } from './key-handover.ts'
import { checkpointRules } from './rules.ts'

/** In the engine: signed statements about the journal. */
export const checkpoints = {
  changes,
  rules: checkpointRules,
  audited: {},
  helpers: { isSignedByBoth },
  unattempted: ['sign-checkpoint', 'record-receipt', 'publish-checkpoint', 'cosign-checkpoint'],
} as const
