import type { ChangeOf } from '../events/schema/change.ts'
import * as changes from './changes.ts'

/** In the engine: shares and embeds. */
export const links = { changes }

/** A change of shares and embeds. */
export type SharingChange = ChangeOf<(typeof changes)[keyof typeof changes]>
