import type { PlacedCommands } from '../commands/placed-commands.ts'
import { BackupCommand } from './create-command.ts'
import { BackupExtractCommand } from './extract-command.ts'
import { StorageHealCommand } from './heal-command.ts'
import { RestoreCommand } from './restore-command.ts'
import { BackupVerifyCommand } from './verify-command.ts'

/** On the command line: backup, its proof, restore and repair. */
export const backup: { readonly commands: readonly PlacedCommands[] } = {
  commands: [
    {
      after: 'root rotate',
      commands: [BackupCommand, BackupVerifyCommand, BackupExtractCommand, RestoreCommand, StorageHealCommand],
    },
  ],
}
