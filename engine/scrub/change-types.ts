import type { ChangesOf } from '../events/schema/change.ts'
import type * as changes from './changes.ts'

/** A change of the scrub. */
export type ScrubChange = ChangesOf<typeof changes>
