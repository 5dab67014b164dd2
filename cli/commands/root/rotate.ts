import { Command } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { isStoreLocked } from '../../../engine/disk/store-lock.ts'
import { environmentName } from '../../config/config-table.ts'
import { changeSecrets, existingSecretsPath } from '../../config/secrets-file.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { isTerminal } from '../../terminal/is-terminal.ts'
import { ConfigCommand } from '../config/config-command.ts'
import { newSecret } from '../quickstart/secrets.ts'

const ACCESS_KEY = 'root.access_key'
const SECRET_KEY = 'root.secret_key'

export class RootRotateCommand extends ConfigCommand {
  static override paths = [['root', 'rotate']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'write a new root credential to the secrets file',
    details: `
      The server reads the root credential when it starts: the old one stays valid until a restart. After that its
      signatures, presigned URLs and console sessions are refused. Where the credential comes from the environment or
      from a TOML file, change it there and restart the server.
    `,
    examples: [['The store of a quick start', '$0 root rotate --data-dir ./data']],
  })

  override async execute(): Promise<number> {
    const { config, sources } = this.readConfig()
    const path = existingSecretsPath(config)
    const elsewhere = [ACCESS_KEY, SECRET_KEY].filter((name) => sources[name as typeof ACCESS_KEY] !== 'secrets file')
    if (path === undefined || elsewhere.length > 0) {
      const message = `${elsewhere.join(' and ')}: not from a secrets file, which this command could change`
      throw new ExitError('usage', `${message}; change it where it is set, and restart the server`)
    }
    const [accessKey, secretKey] = [newSecret(ACCESS_KEY), newSecret(SECRET_KEY)]
    changeSecrets(path, { [environmentName(ACCESS_KEY)]: accessKey, [environmentName(SECRET_KEY)]: secretKey })
    const shown = isTerminal(this.context.stdout) ? `${secretKey}   (shown this once)` : `in ${path}`
    const isRunning = await isStoreLocked(nodeDisk, config.data_dir)
    const next = isRunning
      ? 'A server runs with the credential before: it is valid until that server is restarted.'
      : 'The next start of the server takes it.'
    this.context.stdout.write(`access key    ${accessKey}\nsecret key    ${shown}\n${next}\n`)
    return exitTable.ok.code
  }
}
