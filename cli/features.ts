/** Every feature that has settings, in the order of the page. */
import { checkpoints } from './checkpoints/feature.ts'
import { lifecycle } from './lifecycle/feature.ts'
import { links } from './links/feature.ts'
import { scrub } from './scrub/feature.ts'
import { webhooks } from './webhooks/feature.ts'

export const features = [lifecycle, scrub, checkpoints, webhooks, links] as const
