import type { ChangesOf } from '../events/schema/change.ts'
import type * as changes from './changes.ts'

/** A change of lifecycle rules. */
export type LifecycleChange = ChangesOf<typeof changes>
