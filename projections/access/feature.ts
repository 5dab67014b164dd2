import * as changes from '../../engine/access/changes.ts'
import { AccessRows } from './rows.ts'
import { accessTables } from './tables.ts'

/** In the projections: its tables, and what its changes do to them. */
export const access = {
  tables: accessTables,
  changes,
  rows: { access: AccessRows },
} as const
