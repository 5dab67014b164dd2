import { checkpointsSettings } from './settings.ts'

/** In the configuration: signing, locks, time stamps and witnesses. */
export const checkpoints = { settings: checkpointsSettings } as const
