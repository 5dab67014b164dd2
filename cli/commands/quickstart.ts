import { Command } from 'clipanion'
import { configTable } from '../config/config-table.ts'
import { ConfigCommand } from './config/config-command.ts'
import { createLogger } from '../server/log/logger.ts'
import { ensureQuickstartSecrets } from './quickstart/secrets.ts'
import { quickstartWelcome } from './quickstart/welcome.ts'
import { isTerminal } from '../terminal/is-terminal.ts'
import { runServer } from '../server/run-server.ts'

export class QuickstartCommand extends ConfigCommand {
  static override paths = [['quickstart']]

  static override usage = Command.Usage({
    category: 'Server',
    description: 'create a data directory with its own secrets and run the server on it',
    details: `
      The first start creates the data directory and beside it a file of secrets, which only its owner can read:
      \`data.secrets.env\` for \`data\`, or the setting \`secrets_file\`. On a terminal it prints the root credential once.
      Later starts read the file, and so do the other commands. A secret that is set in the environment or in a TOML file
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
    const secrets = ensureQuickstartSecrets({ config: before.config, given })
    for (const notice of secrets.notices) this.context.stderr.write(`object-store: ${notice}\n`)
    const { config, sources } = this.readConfig()
    return runServer({
      config,
      logger: createLogger({ level: config['log.level'], format: config['log.format'] }),
      control: this.context.control,
      start: this.context.startServer,
      started: (server) => {
        const { workingDirectory, stdout } = this.context
        const onTerminal = isTerminal(stdout)
        stdout.write(quickstartWelcome({ config, sources, secrets, workingDirectory, server, onTerminal }))
      },
    })
  }
}
