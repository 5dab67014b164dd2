import { lifecycleSettings } from './audited-settings.ts'
import * as changes from './changes.ts'
import { lifecycleRules } from './rules.ts'

/** In the engine: what expires by age. */
export const lifecycle = {
  changes,
  rules: lifecycleRules,
  audited: lifecycleSettings,
  helpers: {},
  unattempted: [],
} as const
