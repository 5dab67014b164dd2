import * as changes from '../../engine/links/changes.ts'
import { SharingRows } from './rows.ts'
import { sharingTables } from './tables.ts'

/** In the projections: its tables, and what its changes do to them. */
export const links = {
  tables: sharingTables,
  changes,
  rows: { links: SharingRows },
} as const
