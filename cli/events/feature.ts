import type { PlacedCommands } from '../commands/placed-commands.ts'
import { EventsFollowCommand } from './follow.ts'
import { EventsListCommand } from './list.ts'

/** On the command line: storage events. */
export const events: { readonly commands: readonly PlacedCommands[] } = {
  commands: [{ after: 'audit export', commands: [EventsListCommand, EventsFollowCommand] }],
}
