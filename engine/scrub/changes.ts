import { defineChange } from '../events/schema/change.ts'
import { listOf } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'
import { scrubDamage, scrubProgress } from '../events/values.ts'

/** A pass of the scrub, which reads all stored bytes, started, advanced, or ended. */
export const scrubAdvanced = defineChange('scrub.advanced', 80, {
  progress: field(scrubProgress, 'progress'),
  damage: field(listOf(scrubDamage), 'damage', 'found since the entry before, at most 256'),
})
