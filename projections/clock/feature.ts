import * as changes from '../../engine/clock/changes.ts'
import { ClockRows } from './rows.ts'
import { clockTables } from './tables.ts'

/** In the projections: when retentions end. */
export const clock = {
  tables: clockTables,
  changes,
  rows: { clock: ClockRows },
} as const
