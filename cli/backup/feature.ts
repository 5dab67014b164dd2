import type { PlacedCommands } from '../commands/placed-commands.ts'
import { BackupCommand } from './commands/create-command.ts'
import { BackupExtractCommand } from './commands/extract-command.ts'
import { StorageHealCommand } from './commands/heal-command.ts'
import { RestoreCommand } from './commands/restore-command.ts'
import { BackupVerifyCommand } from './commands/verify-command.ts'

/** On the command line: backup, its proof, restore and repair. */
export const backup: { readonly commands: readonly PlacedCommands[] } = {
  commands: [
    {
      after: 'root rotate',
      commands: [BackupCommand, BackupVerifyCommand, BackupExtractCommand, RestoreCommand, StorageHealCommand],
    },
  ],
}
