import type { ChangeOf } from '../events/schema/change.ts'
import * as changes from './changes.ts'

/** In the engine: signed statements about the journal. */
export const checkpoints = { changes }

/** A change of checkpoints and of what was said about them. */
export type CheckpointChange = ChangeOf<(typeof changes)[keyof typeof changes]>
