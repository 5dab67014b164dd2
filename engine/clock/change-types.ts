import type { ChangesOf } from '../events/schema/change.ts'
import type * as changes from './changes.ts'

/** A change of the clock. */
export type ClockChange = ChangesOf<typeof changes>
