import { accessSettings } from './audited-settings.ts'
import * as changes from './changes.ts'
import { accessRules } from './rules.ts'

/** In the engine: who may do what. */
export const access = {
  changes,
  rules: accessRules,
  audited: accessSettings,
  helpers: {},
  unattempted: [],
} as const
