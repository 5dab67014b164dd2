import type { Config } from '../../../config/config-types.ts'
import { getManagement } from '../../../client/management-request.ts'
import { type Readiness, readinessOf } from '../../../client/readiness.ts'
import { visibleText } from '../../../terminal/visible-text.ts'
import type { Found } from './finding.ts'

/** Damaged payloads and segments that a finding names. */
const NAMED_MAXIMUM = 20

/** What a running server says of itself, or why it cannot be asked: it may still start, or listen elsewhere. */
export function askReadiness(config: Config): Promise<Readiness | Error> {
  return getManagement(config, '/ready')
    .then(readinessOf)
    .catch((error: Error) => error)
}

/** Whether the server that has the data directory open is ready, and what it does not do at the moment. */
export function runningServer(found: Readiness | Error): Found {
  if (found instanceof Error) {
    const next = 'wait until it has started (object-store status --wait=5m), or give its address as api.bind'
    return { status: 'warning', detail: found.message, next }
  }
  if (!found.ready) throw new Error(`it is not ready: ${sentenceOf(found.failing)}`)
  return found.degraded.length === 0
    ? 'it is ready'
    : { status: 'warning', detail: `it is ready, degraded: ${sentenceOf(found.degraded)}` }
}

function sentenceOf(checks: readonly { readonly name: string; readonly reason: string }[]): string {
  return checks.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
}

/** Part of the answer of GET /api/v1/storage/status. */
interface StorageStatus {
  readonly scrub: { readonly damage: readonly Damage[] } | null
}

interface Damage {
  readonly kind: string
  readonly number: number
  readonly reason: string
  readonly objects: readonly { readonly bucket: string | null; readonly key: string }[]
}

/**
 * What scrubs have found and what was not repaired since, with the objects that it belongs to. Only a server that is degraded for it is
 * asked, since the question is a record of its journal.
 */
export async function foundDamage(config: Config, ready: Readiness | Error): Promise<Found> {
  if (ready instanceof Error) return { status: 'skipped', detail: 'the server cannot be asked' }
  if (!ready.degraded.some(({ name }) => name === 'scrub')) return 'scrubs have found none'
  const { status, text } = await getManagement(config, '/api/v1/storage/status', {
    authorization: authorizationOf(config),
  }).catch((error: unknown) => ({ status: 0, text: (error as Error).message }))
  if (status !== 200) {
    return { status: 'skipped', detail: `the server did not say (${status === 0 ? text : `HTTP ${status}`})` }
  }
  const damage = (JSON.parse(text) as StorageStatus).scrub?.damage ?? []
  const named = damage.slice(0, NAMED_MAXIMUM).map(sentenceOfDamage)
  const more = damage.length - named.length
  const detail = `${named.join('; ')}${more > 0 ? `; and ${more} more: object-store storage status` : ''}`
  return { status: 'warning', detail: `a scrub found damage: ${detail}` }
}

function sentenceOfDamage({ kind, number, reason, objects }: Damage): string {
  const names = objects.map(({ bucket, key }) => visibleText(`${bucket ?? '(a deleted bucket)'}/${key}`))
  const what = `${kind} ${number}: ${visibleText(reason)}`
  return names.length === 0 ? what : `${names.join(', ')} (${what})`
}

/** As the server's own settings allow: its token, else its root credential. */
function authorizationOf(config: Config): string | undefined {
  const token = config['management.system_token']?.reveal()
  if (token !== undefined) return `Bearer ${token}`
  const [user, password] = [config['root.access_key'], config['root.secret_key']?.reveal()]
  if (user === undefined || password === undefined) return undefined
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
