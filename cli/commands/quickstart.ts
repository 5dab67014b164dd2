import { Command } from 'clipanion'
import { configTable } from '../config/config-table.ts'
import { ConfigCommand } from './config/config-command.ts'
import { createLogger } from '../server/logger.ts'
import { ensureQuickstartSecrets } from './quickstart/secrets.ts'
import { quickstartWelcome } from './quickstart/welcome.ts'
import { runServer } from '../server/run-server.ts'

export class QuickstartCommand extends ConfigCommand {
  static override paths = [['quickstart']]

  static override usage = Command.Usage({
    category: 'Server',
    description: 'create a data directory with its own secrets and run the server on it',
    details: `
      The first start creates the data directory with \`secrets.env\` in it, which only its owner can read, and prints
      the root credential once. Later starts read the file. A secret that is set in the environment or in a TOML file
      overrides the one in the file and is not written to it.
    `,
    examples: [
      ['Try it out in ./data', '$0 quickstart'],
      ['Elsewhere', '$0 quickstart --data-dir /srv/objects'],
    ],
  })

  override async execute(): Promise<number> {
    const before = this.readConfig()
    const given = new Set(configTable.map(({ name }) => name).filter((name) => before.config[name] !== undefined))
    const secrets = ensureQuickstartSecrets({ dataDirectory: before.config['data_dir'], given })
    const { config, sources } = this.readConfig(secrets.values)
    return runServer({
      config,
      logger: createLogger({ level: config['log.level'] }),
      control: this.context.control,
      start: this.context.startServer,
      started: (server) => {
        const { workingDirectory, stdout } = this.context
        stdout.write(quickstartWelcome({ config, sources, secrets, workingDirectory, server }))
      },
    })
  }
}
