import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { ConfigCommand } from './config/config-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { endpointOf } from '../client/endpoint.ts'
import { getManagement, getManagementAt, type ManagementAnswer } from '../client/management-request.ts'

interface Readiness {
  readonly url: string
  readonly httpStatus: number
  readonly ready: boolean
  readonly failing: readonly { readonly name: string; readonly reason: string }[]
}

/** The failing checks in an answer of /ready; empty if it has no such list. */
function failingChecks(body: unknown): Readiness['failing'] {
  const failing = typeof body === 'object' && body !== null && 'failing' in body ? body.failing : undefined
  if (!Array.isArray(failing)) return []
  return failing.map((check: unknown) => {
    const { name, reason } = (check ?? {}) as { name?: unknown; reason?: unknown }
    return { name: String(name), reason: String(reason) }
  })
}

function readinessOf({ url, status, text }: ManagementAnswer): Readiness {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new ExitError('failed', `${url} answered ${status} without JSON`)
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

      If the management listener has a certificate (api.tls_certificate_file), the server must show a certificate that
      this file vouches for. With --ca-file other certificates are trusted instead, and the host of --api-bind must be a
      name in the server's certificate.
    `,
    examples: [
      ['In a script', '$0 status --json && echo ready'],
      ['Of a server elsewhere', '$0 status --api-bind store.example:7601 --ca-file /etc/ssl/certs/ca-certificates.crt'],
    ],
  })

  url = Option.String('--url', { description: 'management address of the server (OBJECT_STORE_URL)' })
  profile = Option.String('--profile', { description: 'profile with the address (OBJECT_STORE_PROFILE)' })
  caFile = Option.String('--ca-file', { description: 'use TLS and trust the certificates in this PEM file' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const readiness = readinessOf(await this.#ask())
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

  /** Asks the server that an option, the environment or a profile names; otherwise that of the configuration. */
  #ask(): Promise<ManagementAnswer> {
    const { environment } = this.context
    const isConfigured = this.url === undefined && (this.apiBind !== undefined || this.configPath !== undefined)
    const url = this.url ?? (isConfigured ? undefined : environment['OBJECT_STORE_URL'])
    const profile = this.profile ?? (isConfigured ? undefined : environment['OBJECT_STORE_PROFILE'])
    if (url === undefined && profile === undefined) {
      return getManagement(this.readConfig().config, '/ready', this.#caPath())
    }
    const flags = { url, profile, caFile: this.caFile, token: undefined, tokenFile: undefined }
    return getManagementAt(endpointOf(flags, this.context), '/ready')
  }

  #caPath(): string | undefined {
    return this.caFile === undefined ? undefined : resolve(this.context.workingDirectory, this.caFile)
  }
}
