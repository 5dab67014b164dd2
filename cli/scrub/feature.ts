import { scrubSettings } from './settings.ts'

/** In the configuration: how often and how fast it reads. */
export const scrub = { settings: scrubSettings } as const
