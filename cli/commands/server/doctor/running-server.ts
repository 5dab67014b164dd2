import { getManagement, type ManagementAnswer } from '../../../client/management-request.ts'
import { readinessOf } from '../../../client/readiness.ts'
import type { Config } from '../../../config/config-types.ts'
import type { Finding } from './finding.ts'

/** Whether the server that has the data directory open is ready, and what it does not do at the moment. */
export async function runningServer(config: Config): Promise<string | Omit<Finding, 'check'>> {
  let answer: ManagementAnswer
  try {
    answer = await getManagement(config, '/ready')
  } catch (error) {
    // It may still be starting, or have been started with another address.
    return { status: 'warning', detail: (error as Error).message }
  }
  const { ready, failing, degraded } = readinessOf(answer)
  if (!ready) throw new Error(`it is not ready: ${sentenceOf(failing)}`)
  return degraded.length === 0
    ? 'it is ready'
    : { status: 'warning', detail: `it is ready, degraded: ${sentenceOf(degraded)}` }
}

function sentenceOf(checks: readonly { readonly name: string; readonly reason: string }[]): string {
  return checks.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
}
