import type { PlacedCommands } from '../commands/placed-commands.ts'
import { AppCreateCommand } from './create-app.ts'
import { PolicyCreateCommand } from './create-policy.ts'
import { PolicyReplaceCommand } from './replace-policy.ts'

/** On the command line: accounts and policies of a stopped or running server. */
export const access: { readonly commands: readonly PlacedCommands[] } = {
  commands: [{ after: 'object get', commands: [AppCreateCommand, PolicyCreateCommand, PolicyReplaceCommand] }],
}
