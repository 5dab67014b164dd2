import type { Table } from '../lmdb-environment.ts'

/** Tables by the names that code uses for them, such as `{ scrub: 'scrub' }`. */
export type NamedTables<Names> = { readonly [N in keyof Names]: Table }
