import { webhooksSettings } from './settings.ts'

/** In the configuration: where webhooks may send to. */
export const webhooks = { settings: webhooksSettings } as const
