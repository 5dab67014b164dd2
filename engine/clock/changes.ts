import { defineChange } from '../events/schema/change.ts'
import { microseconds, text } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'

/** The order time of the journal was set back to the time of the host. Its entry alone has an order time before the last. */
export const clockSetBack = defineChange('clock.set-back', 81, {
  from: field(microseconds, 'from', 'the order time of the record before, which is the attempt'),
  to: field(microseconds, 'to', 'the order time of this entry, which is earlier'),
  reason: field(text, 'reason'),
})
