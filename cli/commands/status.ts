import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { ConfigCommand } from '../config-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { getManagement, type ManagementAnswer } from '../management-request.ts'

interface Readiness {
  readonly url: string
  readonly httpStatus: number
  readonly ready: boolean
  /** What does not work, as the server names it. */
  readonly failing: readonly { readonly name: string; readonly reason: string }[]
}

/** Takes the list of failing checks from an answer of /ready; anything else in its place counts as none named. */
function failingChecks(body: unknown): Readiness['failing'] {
  const failing = typeof body === 'object' && body !== null && 'failing' in body ? body.failing : undefined
  if (!Array.isArray(failing)) return []
  return failing.map((check: unknown) => {
    const { name, reason } = (check ?? {}) as { name?: unknown; reason?: unknown }
    return { name: String(name), reason: String(reason) }
  })
}

/** Makes sense of an answer of /ready. */
function readinessOf({ url, status, text }: ManagementAnswer): Readiness {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new ExitError('failed', `${url} answered ${status} with something that is no JSON`)
  }
  const ready = status === 200
  return { url, httpStatus: status, ready, failing: ready ? [] : failingChecks(body) }
}

export class StatusCommand extends ConfigCommand {
  static override paths = [['status']]

  static override usage = Command.Usage({
    category: 'Server',
    description: 'ask a running server whether it is ready',
    details: `
      Ends with 0 when it is ready, 1 when it is not, and 10 when nobody answers.

      When the management listener has a certificate (api.tls_certificate_file), that file is what the answer is checked
      against. With --ca-file it is checked against other certificates, and the host of --api-bind must be a name that
      the server's certificate has.
    `,
    examples: [
      ['In a script', '$0 status --json && echo ready'],
      ['Of a server elsewhere', '$0 status --api-bind store.example:7601 --ca-file /etc/ssl/certs/ca-certificates.crt'],
    ],
  })

  caFile = Option.String('--ca-file', { description: 'speak TLS, and believe the certificates in this PEM file' })
  json = Option.Boolean('--json', false, { description: 'one JSON object' })

  override async execute(): Promise<number> {
    const { config } = this.readConfig()
    const readiness = readinessOf(await getManagement(config, '/ready', this.#caPath()))
    const lines = this.json
      ? [
          JSON.stringify({
            url: readiness.url,
            http_status: readiness.httpStatus,
            ready: readiness.ready,
            failing: readiness.failing,
          }),
        ]
      : [
          `${readiness.url}: ${readiness.ready ? 'ready' : `not ready (HTTP ${readiness.httpStatus})`}`,
          ...readiness.failing.map((check) => `  ${check.name}: ${check.reason}`),
        ]
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return readiness.ready ? exitTable.ok.code : exitTable.failed.code
  }

  #caPath(): string | undefined {
    return this.caFile === undefined ? undefined : resolve(this.context.workingDirectory, this.caFile)
  }
}
