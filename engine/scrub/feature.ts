import * as changes from './changes.ts'
import { scrubRules } from './rules.ts'

/** In the engine: reading everything to find damage. */
export const scrub = {
  changes,
  rules: scrubRules,
  audited: {},
  helpers: {},
  unattempted: [],
} as const
