import * as changes from './changes.ts'
import { clockRules } from './rules.ts'

/** In the engine: setting a wrong time of the journal back. */
export const clock = {
  changes,
  rules: clockRules,
  audited: {},
  helpers: {},
  unattempted: [],
} as const
