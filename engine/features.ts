/** Every feature of the engine. The journal reads the changes of each, whether it is on or off. */
import { access } from './access/feature.ts'
import { checkpoints } from './checkpoints/feature.ts'
import { lifecycle } from './lifecycle/feature.ts'
import { links } from './links/feature.ts'
import { scrub } from './scrub/feature.ts'
import { webhooks } from './webhooks/feature.ts'

export const features = [access, webhooks, lifecycle, links, checkpoints, scrub] as const
