import type { Sequence } from '../brands.ts'

/** A version of a key: the `null` version, or the version written by the entry of this sequence. */
export type VersionName = 'null' | Sequence

/** The version that a caller asks for; `unknown` selects none: this store never issued its id. */
export type VersionSelector = VersionName | 'unknown'
