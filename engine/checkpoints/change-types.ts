import type { ChangesOf } from '../events/schema/change.ts'
import type * as changes from './changes.ts'

/** A change of checkpoints and of what was said about them. */
export type CheckpointChange = ChangesOf<typeof changes>
