import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'clipanion'
import { ConfigCommand } from './config/config-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { secondsOption } from './option-values.ts'
import { endpointOf } from '../client/endpoint.ts'
import { getManagement, getManagementAt, type ManagementAnswer } from '../client/management-request.ts'
import { type Readiness, readinessOf } from '../client/readiness.ts'

/** How long `--wait` alone waits. */
const WAIT_STANDARD = '1m'
/** Pauses between questions while waiting: short at first, for a server that is about to start, then longer. */
const PAUSE_MILLISECONDS = { first: 50, most: 1000 } as const

export class StatusCommand extends ConfigCommand {
  static override paths = [['status']]

  static override usage = Command.Usage({
    category: 'Server',
    description: 'ask a running server whether it is ready',
    details: `
      Ends with 0 when it is ready, 1 when it is not, and 10 when nobody answers.

      With --wait it asks again until the server is ready, for at most the given time, such as --wait=5m, and then ends as it
      would without --wait. Service managers use it to wait for a start.

      If the management listener has a certificate (api.tls_certificate_file), the certificate of the server must be
      that one or be signed by it. With --ca-file other certificates are trusted instead, and the host of --api-bind must be a
      name in the server's certificate.
    `,
    examples: [
      ['In a script', '$0 status --json && echo ready'],
      ['Until it is ready', '$0 status --wait=2m'],
      ['Of a server elsewhere', '$0 status --api-bind store.example:7601 --ca-file /etc/ssl/certs/ca-certificates.crt'],
    ],
  })

  url = Option.String('--url', { description: 'management address of the server (OBJECT_STORE_URL)' })
  profile = Option.String('--profile', { description: 'profile with the address (OBJECT_STORE_PROFILE)' })
  caFile = Option.String('--ca-file', { description: 'use TLS and trust the certificates in this PEM file' })
  wait = Option.String('--wait', {
    tolerateBoolean: true,
    description: `wait until it is ready, at most this long (${WAIT_STANDARD} unless given as --wait=5m)`,
  })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const readiness = await this.#readiness()
    const lines = this.json
      ? [
          JSON.stringify({
            url: readiness.url,
            http_status: readiness.httpStatus,
            ready: readiness.ready,
            failing: readiness.failing,
            degraded: readiness.degraded,
          }),
        ]
      : [
          `${readiness.url}: ${readiness.ready ? 'ready' : `not ready (HTTP ${readiness.httpStatus})`}`,
          ...readiness.failing.map((check) => `  ${check.name}: ${check.reason}`),
          ...readiness.degraded.map((check) => `  degraded, ${check.name}: ${check.reason}`),
        ]
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return readiness.ready ? exitTable.ok.code : exitTable.failed.code
  }

  /** The answer of the server; with --wait the first ready answer, or the last one. */
  async #readiness(): Promise<Readiness> {
    const seconds = this.#waitSeconds()
    const deadline = performance.now() + seconds * 1000
    for (let pause: number = PAUSE_MILLISECONDS.first; ; pause = Math.min(pause * 2, PAUSE_MILLISECONDS.most)) {
      const left = deadline - performance.now()
      try {
        const readiness = readinessOf(await this.#ask())
        if (readiness.ready || left <= 0) return readiness
      } catch (error) {
        if (left <= 0 || !(error instanceof ExitError && error.exit === 'unreachable')) throw error
      }
      await sleep(Math.min(pause, Math.max(left, 0)))
    }
  }

  /** @throws ExitError `usage` */
  #waitSeconds(): number {
    if (this.wait === undefined || this.wait === false) return 0
    return secondsOption('--wait', this.wait === true ? WAIT_STANDARD : this.wait)
  }

  /** Asks the server of an option, the environment or a profile; otherwise the configured server. */
  #ask(): Promise<ManagementAnswer> {
    const { environment } = this.context
    const isConfigured = this.url === undefined && (this.apiBind !== undefined || this.configPath !== undefined)
    const around = isConfigured ? undefined : environment['OBJECT_STORE_URL'] || environment['OBJECT_STORE_PROFILE']
    if (this.url === undefined && this.profile === undefined && !around) {
      return getManagement(this.readConfig().config, '/ready', { caFile: this.#caPath() })
    }
    const { url, profile, caFile } = this
    const flags = { url, profile, caFile, token: undefined, tokenFile: undefined, secretsFile: undefined, root: false }
    return getManagementAt(endpointOf(flags, this.context), '/ready')
  }

  #caPath(): string | undefined {
    return this.caFile === undefined ? undefined : resolve(this.context.workingDirectory, this.caFile)
  }
}
