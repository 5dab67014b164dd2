/**
 * The settings of all features, in the order of the page. They are apart from `cli/features.ts`, since the
 * commands in it read the configuration, whose type is made of these.
 */
import { checkpointsSettings } from '../checkpoints/settings.ts'
import { lifecycleSettings } from '../lifecycle/settings.ts'
import { sharingSettings } from '../links/settings.ts'
import { scrubSettings } from '../scrub/settings.ts'
import { webhooksSettings } from '../webhooks/settings.ts'

export const featureSettings = [
  ...lifecycleSettings,
  ...scrubSettings,
  ...checkpointsSettings,
  ...webhooksSettings,
  ...sharingSettings,
] as const
