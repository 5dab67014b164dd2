/** Whether somebody names the damage of a rotten disk, and nobody calls sound things damaged. */
import { basename } from 'node:path'
import { payloadIdOf } from '../../../../engine/brands.ts'
import type { ScrubDamage } from '../../../../engine/events/values.ts'
import { API } from '../../../../planes/management/routing/define-route.ts'
import { segmentFirstSequence } from '../../../../engine/disk/store-paths.ts'
import { requireReadiness } from '../readiness.ts'
import { unexpectedDamage } from '../world-host.ts'
import type { WorldStore } from '../world-store.ts'
import type { Decay } from './decay.ts'
import { verdictOn } from './journal-verdict.ts'
import type { RottenObjects } from './rotten-objects.ts'

const NAMED: ReadonlySet<string> = new Set([
  'PayloadDamagedError',
  'VolumeDamagedError',
  'JournalDamagedError',
  'ColdSegmentDamagedError',
])
const SPAN = 10_000

/** Whether an error says that something is damaged. */
export function namesDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return NAMED.has(error.name)
}

/** What a scrub of everything finds. @param pause between two passes @throws Error when it is not what is damaged */
export async function requireScrub(
  world: WorldStore,
  { place }: Decay,
  { payloads }: RottenObjects,
  pause: () => Promise<void>,
): Promise<void> {
  const damage = await scrub(world, pause)
  const numbers = damage.flatMap(({ kind, number }) => (kind === 'payload' ? number : []))
  const isRight = numbers.length === payloads.size && numbers.every((number) => payloads.has(payloadIdOf(number)))
  if (!isRight) throw new Error(`a scrub names the payloads ${numbers}, and damaged are ${[...payloads]}`)
  const segments = damage.flatMap(({ kind, number }) => (kind === 'segment' ? number : []))
  const isSealed = place.kind === 'sealed segment' || place.kind === 'cold segment'
  const expected = isSealed ? [segmentFirstSequence(basename(place.path))] : []
  // An open segment may have been sealed meanwhile.
  await requireReadiness(world, ['scrub'], damage.length > 0 ? ['scrub'] : [])
  const isNamed = place.kind === 'open segment' || String(segments) === String(expected)
  if (!isNamed) throw new Error(`a scrub names the segments ${segments}, and damaged is ${expected}`)
}

async function scrub({ host, jobs, server }: WorldStore, pause: () => Promise<void>): Promise<readonly ScrubDamage[]> {
  const found: ScrubDamage[] = []
  // A pass that began before has read some of what is damaged now.
  await jobs.scrub()
  await pause()
  host.scrubbed = (damage) => void found.push(damage)
  await server.api.send('POST', `${API}/storage/scrub`, {})
  await jobs.scrub()
  host.scrubbed = unexpectedDamage
  return found
}

/** What the verifier and the check of the chain find. @throws Error when it is not what is damaged */
export async function requireVerdicts(world: WorldStore, { place }: Decay): Promise<void> {
  const { problems } = await verdictOn(world.host)
  const segment = basename(place.path)
  const isSegment = place.kind.endsWith('segment') && place.kind !== 'spare segment'
  const [first] = problems
  if (isSegment !== (first !== undefined)) throw new Error(`the verifier says ${JSON.stringify(problems)}`)
  if (first !== undefined && first.segment !== segment) throw new Error(`the verifier names ${first.segment}`)
  const isIntact = await chainIsIntact(world)
  // Damage that was met before stays in `/ready` until the next start.
  if (isSegment) await requireReadiness(world, ['journal'], ['journal'])
  if (isIntact === isSegment) throw new Error(`the check of the chain says ${isIntact ? 'intact' : 'damaged'}`)
}

async function chainIsIntact(world: WorldStore): Promise<boolean> {
  let isIntact = true
  for (let from: number | null = 0; from !== null; ) {
    const { status, text } = await world.manage('GET', `${API}/audit/chain?from=${from}&limit=${SPAN}`, '')
    if (status !== 200) throw new Error(`the check of the chain was answered ${status} ${text}`)
    const report = JSON.parse(text) as { intact: boolean; next_from: number | null }
    isIntact &&= report.intact
    from = report.next_from
  }
  return isIntact
}
