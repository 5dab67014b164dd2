import { EventRows } from './rows.ts'
import { eventTables } from './tables.ts'

/** In the projections: its tables, and what its changes do to them. */
export const events = {
  tables: eventTables,
  changes: {},
  rows: { events: EventRows },
} as const
