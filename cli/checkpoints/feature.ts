import type { PlacedCommands } from '../commands/placed-commands.ts'
import { CheckpointAbsenceCommand } from './absence.ts'
import {
  CheckpointConsistencyCommand,
  CheckpointHandoversCommand,
  CheckpointKeyCommand,
  CheckpointProveCommand,
  CheckpointShowCommand,
  CheckpointWitnessKeyCommand,
} from './checkpoint-text.ts'
import { CheckpointExportCommand } from './export.ts'
import { CheckpointTimestampCommand } from './timestamp.ts'
import { CheckpointVerifyCommand } from './verify.ts'

/** On the command line: checkpoints, and what proves them. */
export const checkpoints: { readonly commands: readonly PlacedCommands[] } = {
  commands: [
    {
      after: 'proof page',
      commands: [
        CheckpointShowCommand,
        CheckpointKeyCommand,
        CheckpointWitnessKeyCommand,
        CheckpointHandoversCommand,
        CheckpointProveCommand,
        CheckpointConsistencyCommand,
        CheckpointVerifyCommand,
        CheckpointTimestampCommand,
        CheckpointExportCommand,
        CheckpointAbsenceCommand,
      ],
    },
  ],
}
