import * as changes from '../../engine/scrub/changes.ts'
import { ScrubRows } from './rows.ts'
import { scrubTables } from './tables.ts'

/** In the projections: its tables, and what its changes do to them. */
export const scrub = {
  tables: scrubTables,
  changes,
  rows: { scrub: ScrubRows },
} as const
