/** Every feature with routes of management. A feature may place its routes after routes of a feature before it. */
import { access } from './management/access/feature.ts'
import { checkpoints } from './management/checkpoints/feature.ts'
import { clock } from './management/clock/feature.ts'
import { events } from './management/events/feature.ts'
import { lifecycle } from './management/lifecycle/feature.ts'
import { links } from './management/links/feature.ts'
import { proof } from './management/proof/feature.ts'
import { webhooks } from './management/webhooks/feature.ts'

export const features = [lifecycle, proof, access, webhooks, checkpoints, events, links, clock] as const
