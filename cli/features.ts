/** Every feature with commands of its own. It may place them after commands of a feature before it. */
import { access } from './access/feature.ts'
import { backup } from './backup/feature.ts'
import { checkpoints } from './checkpoints/feature.ts'
import { events } from './events/feature.ts'
import { links } from './links/feature.ts'
import { proof } from './proof/feature.ts'

export const features = [access, backup, events, proof, checkpoints, links] as const
