/** Outcomes of deliveries to webhooks. */
import { identifier } from '../events/names.ts'
import { defineChange } from '../events/schema/change.ts'
import { flag, integer, listOf, microseconds, optional, orZero, sequence, text } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'
import { deliveryAttempt, eventPlace } from '../events/values.ts'

const webhook = field(identifier, 'webhook id')

/** Events of a range of time are delivered again; the sequence of this entry names the replay. */
export const webhookReplayed = defineChange('webhook.replayed', 44, {
  webhook,
  sinceMicroseconds: field(microseconds, 'since'),
  untilMicroseconds: field(microseconds, 'until', 'not included'),
})

/** A pass of the deliveries to one webhook. */
export const webhookDelivered = defineChange('webhook.delivered', 45, {
  webhook,
  replay: field(orZero(sequence), 'replay', '0: the events as they come'),
  position: field(eventPlace, 'position', 'every event up to it is done, or waits'),
  waiting: field(listOf(eventPlace), 'waiting', 'events up to the position that were not tried yet'),
  attempts: field(listOf(deliveryAttempt), 'attempts'),
  isOver: field(flag, 'over', 'nothing of the replay is left'),
})

/**
 * Attempts that were made for deliveries that are no longer pending: the webhook was disabled meanwhile, or the replay
 * is over. They go to the log and change nothing else.
 */
export const webhookAttempted = defineChange('webhook.attempted', 48, {
  webhook,
  replay: field(orZero(sequence), 'replay', '0: the events as they come'),
  attempts: field(listOf(deliveryAttempt), 'attempts', 'none is tried again'),
})

/** The POST of a made-up event, on request. */
export const webhookTested = defineChange('webhook.tested', 46, {
  webhook,
  event: field(text, 'event id'),
  timeMicroseconds: field(microseconds, 'time', 'when it began'),
  status: field(optional(integer), 'status', 'of the HTTP response; nil without one'),
  error: field(optional(text), 'error', 'what went wrong, at most 256 bytes; nil after a 2xx'),
})
