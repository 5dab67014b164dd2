import { lifecycleSettings } from './settings.ts'

/** In the configuration: passes over the rules. */
export const lifecycle = { settings: lifecycleSettings } as const
