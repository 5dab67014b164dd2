/** The changes that belong to no feature. */
import * as buckets from './bucket-changes.ts'
import * as objects from './object-changes.ts'
import type { ChangeNamed, ChangesOf } from './schema/change.ts'
import * as store from './store-changes.ts'
import * as uploads from './upload-changes.ts'

export const SPINE_CHANGES = { ...buckets, ...objects, ...uploads, ...store }

export type SpineChange = ChangesOf<typeof SPINE_CHANGES>
export type SpineChangeNamed<N extends SpineChange['name']> = ChangeNamed<SpineChange, N>
