/** What `/ready` and `/health` of a world say, held against what is the case. */
import { degradations, reasonOf, type DegradationSources } from '../../../cli/server/degradations.ts'
import { millisecondsOf } from '../../../engine/brands.ts'
import { ChainVerdicts } from '../../../engine/journal/chain-verdicts.ts'
import type { ReadinessCheck } from '../../../planes/management/services.ts'
import { notedDamage } from '../../../projections/damaged-note.ts'
import type { ManagedServer } from '../../support/management-server.ts'
import { CLOCK_TOLERANCE_SECONDS } from '../../support/test-server.ts'
import type { WorldStore } from './world-store.ts'

/** What a server of a world does not do at the moment, as the real one says it (cli/server/readiness.ts). */
export function checksOf({ store, services, slots, ground, paths }: ManagedServer): readonly ReadinessCheck[] {
  const verdicts = new ChainVerdicts(ground.disk, paths, store.deploymentId)
  const sources: DegradationSources = {
    engine: store.loop,
    store: { space: services.space, catalog: store.catalog },
    checkpointFacts: () => ({ refusal: undefined }),
    chain: (head) => verdicts.read(head),
    damagedRow: () => notedDamage(ground.disk, paths),
    hasMetDamage: () => slots.total(slots.damageSlot('audit')) > 0,
    clock: () => millisecondsOf(Date.now()),
    clockToleranceSeconds: CLOCK_TOLERANCE_SECONDS,
  }
  return degradations(sources).map((name) => ({ name, ready: false, degrades: true, reason: reasonOf(name, sources) }))
}

/**
 * The server is there, and ready; of `names` it says that these are degraded and no others.
 * @throws Error when it does not
 */
export async function requireReadiness(
  { server }: WorldStore,
  names: readonly string[],
  degraded: readonly string[],
): Promise<void> {
  const health = await server.api.send('GET', '/health')
  const ready = await server.api.send('GET', '/ready')
  if (health.status !== 200 || ready.status !== 200) throw new Error(`health ${health.status}, ready ${ready.status}`)
  const shown = (JSON.parse(ready.text) as { readonly degraded?: readonly { readonly name: string }[] }).degraded ?? []
  const told = shown.map(({ name }) => name).filter((name) => names.includes(name))
  if (told.toSorted().join() === degraded.toSorted().join()) return
  throw new Error(`/ready says that ${told.join() || 'nothing'} is degraded, and it is ${degraded.join() || 'nothing'}`)
}
