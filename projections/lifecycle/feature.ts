import * as changes from '../../engine/lifecycle/changes.ts'
import { LifecycleRows } from './rows.ts'
import { lifecycleTables } from './tables.ts'

/** In the projections: its tables, and what its changes do to them. */
export const lifecycle = {
  tables: lifecycleTables,
  changes,
  rows: { lifecycle: LifecycleRows },
} as const
