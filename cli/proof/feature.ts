import type { PlacedCommands } from '../commands/placed-commands.ts'
import { ProofCreateCommand } from './create.ts'
import { ProofPageCommand } from './page.ts'
import { ProofPublicKeyCommand } from './public-key.ts'
import { ProofVerifyCommand } from './verify.ts'

/** On the command line: bundles that prove an object. */
export const proof: { readonly commands: readonly PlacedCommands[] } = {
  commands: [
    {
      after: 'events follow',
      commands: [ProofCreateCommand, ProofVerifyCommand, ProofPublicKeyCommand, ProofPageCommand],
    },
  ],
}
