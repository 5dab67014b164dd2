import { sharingSettings } from './settings.ts'

/** In the configuration: what shares and embeds may do. */
export const links = { settings: sharingSettings } as const
