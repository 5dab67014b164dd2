import { jsonText } from '../terminal/json-text.ts'
import { Command, Option } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { textTable } from '../terminal/text-table.ts'
import { endpointOf } from './endpoint.ts'
import { type Endpoint, ManagementClient } from './management-client.ts'

/** A command that talks to a running server, with the options that all of them have. */
export abstract class ClientCommand extends Command<CliContext> {
  url = Option.String('--url', { description: 'management address of the server (OBJECT_STORE_URL)' })
  token = Option.String('--token', {
    description: 'management token (OBJECT_STORE_TOKEN keeps it out of the process list)',
  })
  tokenFile = Option.String('--token-file', { description: 'file that holds the management token' })
  secretsFile = Option.String('--secrets-file', {
    description: 'file of secrets of a quick start, such as data.secrets.env: its system token is sent',
  })
  caFile = Option.String('--ca-file', { description: 'PEM file of certificates to trust over TLS' })
  profile = Option.String('--profile', { description: 'profile with address and token (OBJECT_STORE_PROFILE)' })
  root = Option.Boolean('--root', false, {
    description: 'send the root credential (OBJECT_STORE_ROOT_ACCESS_KEY, OBJECT_STORE_ROOT_SECRET_KEY), no token',
  })
  json = Option.Boolean('--json', false, { description: 'print the answer as JSON' })

  /** @throws ExitError `usage` */
  protected client(): ManagementClient {
    return new ManagementClient(this.endpoint())
  }

  /** @throws ExitError `usage` */
  protected endpoint(): Endpoint {
    const { url, token, tokenFile, secretsFile, caFile, profile, root } = this
    return endpointOf({ url, token, tokenFile, secretsFile, caFile, profile, root }, this.context)
  }

  /** Prints an answer as JSON with --json, otherwise the rows that `rows` makes of it. */
  protected print<A>(answer: A, rows: (answer: A) => readonly (readonly string[])[]): void {
    const lines = this.json ? [jsonText(answer ?? {})] : textTable(rows(answer))
    if (lines.length > 0) this.context.stdout.write(`${lines.join('\n')}\n`)
  }
}
