import type { ChangesOf } from '../events/schema/change.ts'
import type * as changes from './changes.ts'

/** A change of shares and embeds. */
export type SharingChange = ChangesOf<typeof changes>
