/** Every feature that has tables: their names, its changes, and the class of rows that applies them. */
import { access } from './access/feature.ts'
import { checkpoints } from './checkpoints/feature.ts'
import { clock } from './clock/feature.ts'
import { events } from './events/feature.ts'
import { lifecycle } from './lifecycle/feature.ts'
import { links } from './links/feature.ts'
import { scrub } from './scrub/feature.ts'
import { webhooks } from './webhooks/feature.ts'

export const features = [events, lifecycle, scrub, checkpoints, access, webhooks, links, clock] as const
