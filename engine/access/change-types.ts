import type { ChangesOf } from '../events/schema/change.ts'
import type * as changes from './changes.ts'

/** A change of who may do what. */
export type AccessChange = ChangesOf<typeof changes>
