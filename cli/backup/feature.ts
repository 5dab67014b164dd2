import type { PlacedCommands } from '../commands/placed-commands.ts'
import { BackupCommand } from './create-command.ts'
import { RestoreCommand } from './restore-command.ts'
import { BackupVerifyCommand } from './verify-command.ts'

/** On the command line: backup, its proof, and restore. */
export const backup: { readonly commands: readonly PlacedCommands[] } = {
  commands: [{ after: 'root rotate', commands: [BackupCommand, BackupVerifyCommand, RestoreCommand] }],
}
