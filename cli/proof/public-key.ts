import { Command, Option } from 'clipanion'
import { ProofSigner } from '../../engine/keys/proof-signer.ts'
import { decodeMasterKey } from '../config/master-key.ts'
import { ConfigCommand } from '../commands/config/config-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { proofSigningSeed } from '../../engine/keys/store-keys.ts'
import { textTable } from '../terminal/text-table.ts'

export class ProofPublicKeyCommand extends ConfigCommand {
  static override paths = [['proof', 'public-key']]

  static override usage = Command.Usage({
    category: 'Proofs',
    description: 'print the public key that verifies the proof bundles of a deployment',
    details: `
      Derives it from the credential master key, which it reads as the server does; no server has to run. Give the key to
      verifiers over a channel they trust; it is not a secret.
    `,
    examples: [['Of a quick start, whose secrets it finds beside the data', '$0 proof public-key --data-dir ./data']],
  })

  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const { config } = this.readConfig()
    const masterKey = decodeMasterKey(config['credential_master_key']?.reveal() ?? '')
    if (masterKey === undefined) {
      throw new ExitError('masterKey', 'the public key is derived from the credential master key, which is not set')
    }
    const { algorithm, public_key, key_id } = new ProofSigner(proofSigningSeed(masterKey)).deployment
    const key = { algorithm, public_key, key_id }
    const lines = this.json ? [JSON.stringify(key)] : textTable(Object.entries(key))
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return exitTable.ok.code
  }
}
