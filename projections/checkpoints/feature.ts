import * as changes from '../../engine/checkpoints/changes.ts'
import { CheckpointRows } from './rows.ts'
import { checkpointTables } from './tables.ts'

/** In the projections: its tables, and what its changes do to them. */
export const checkpoints = {
  tables: checkpointTables,
  changes,
  rows: { checkpoints: CheckpointRows },
} as const
