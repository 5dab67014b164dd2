import { Command } from 'clipanion'
import { ConfigCommand } from './config/config-command.ts'
import { createLogger } from '../server/log/logger.ts'
import { runServer } from '../server/run-server.ts'

export class ServerCommand extends ConfigCommand {
  static override paths = [['server']]

  static override usage = Command.Usage({
    category: 'Server',
    description: 'run the server in the foreground',
    details: `
      Needs the master key and the root credential of the store, from the environment or a TOML file; there are no
      default secrets. The log goes to standard error, one JSON object per line, or as text on a terminal (\`log.format\`).

      With a certificate and its key (s3.tls_certificate_file and so on) a listener speaks TLS. SIGHUP reads them again:
      new connections get the new certificate, open ones continue.

      SIGTERM and SIGINT let requests in progress finish and end with 0; a second signal ends at once with 130.
    `,
    examples: [
      ['Serve a data directory', '$0 server --data-dir /var/lib/object-store --config /etc/object-store.toml'],
      ['Listen on every interface', '$0 server --s3-bind 0.0.0.0:7600'],
    ],
  })

  override async execute(): Promise<number> {
    const { config } = this.readConfig()
    const logger = createLogger({ level: config['log.level'], format: config['log.format'] })
    return runServer({ config, logger, control: this.context.control, start: this.context.startServer })
  }
}
