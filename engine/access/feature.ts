import type { ChangeOf } from '../events/schema/change.ts'
import * as changes from './changes.ts'

/** In the engine: who may do what. */
export const access = { changes }

/** A change of who may do what. */
export type AccessChange = ChangeOf<(typeof changes)[keyof typeof changes]>
