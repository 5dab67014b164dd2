import { Command, Option } from 'clipanion'
import { localUrl } from '../config/address.ts'
import { ConfigCommand } from '../config-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'

const TIMEOUT_MILLISECONDS = 5000

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

async function askReadiness(url: string): Promise<Readiness> {
  let response: Response
  let text: string
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) })
    text = await response.text()
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ExitError('unreachable', `${url} cannot be reached: ${reason}`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new ExitError('failed', `${url} answered ${response.status} with something that is no JSON`)
  }
  const ready = response.status === 200
  return { url, httpStatus: response.status, ready, failing: ready ? [] : failingChecks(body) }
}

export class StatusCommand extends ConfigCommand {
  static override paths = [['status']]

  static override usage = Command.Usage({
    category: 'Server',
    description: 'ask a running server whether it is ready',
    details: 'Ends with 0 when it is ready, 1 when it is not, and 10 when nobody answers.',
    examples: [['In a script', '$0 status --json && echo ready']],
  })

  json = Option.Boolean('--json', false, { description: 'one JSON object' })

  override async execute(): Promise<number> {
    const { config } = this.readConfig()
    const readiness = await askReadiness(`${localUrl(config['api.bind'])}/ready`)
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
}
