import { sharingSettings } from './audited-settings.ts'
import * as changes from './changes.ts'
import { sharingRules } from './rules.ts'

/** In the engine: shares and embeds. */
export const links = {
  changes,
  rules: sharingRules,
  audited: sharingSettings,
  helpers: {},
  unattempted: ['count-download'],
} as const
