import type { PlacedCommands } from '../commands/placed-commands.ts'
import { ShareCreateCommand } from './create-share.ts'

/** On the command line: shares. */
export const links: { readonly commands: readonly PlacedCommands[] } = {
  commands: [{ after: 'verify bucket', commands: [ShareCreateCommand] }],
}
