import type { Milliseconds } from '../../engine/brands.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { ChainVerdicts, type ReadVerdicts } from '../../engine/journal/chain-verdicts.ts'
import { type Degradation, degradationNames } from '../../planes/metrics/metric-table.ts'
import type { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import { notedDamage } from '../../projections/damaged-note.ts'
import type { CheckpointFacts } from '../../projections/checkpoints/checkpoint-facts.ts'
import type { Config } from '../config/config-types.ts'
import { behindSentence, type ClockBehind, clockBehind } from './clock-behind.ts'
import { type CheckpointWorkers, checkpointFacts } from '../checkpoints/start.ts'
import type { StoreSession } from './store/store-session.ts'
import type { EngineThread } from './threads/engine-thread-handle.ts'

export interface DegradationSources {
  readonly engine: Pick<EngineThread, 'roomFor'>
  readonly store: Pick<StoreSession, 'space' | 'catalog'>
  readonly checkpointFacts: () => Pick<CheckpointFacts, 'refusal'>
  /** The last verdicts on the chain of a journal with this last sequence. */
  readonly chain: (head: number) => ReadVerdicts
  /** Whether an audit query or a verification of the chain has met damage since the start. */
  readonly hasMetDamage: () => boolean
  /** The row of the projections that was found damaged since the start, if one was, such as `table objects, key 0061`. */
  readonly damagedRow: () => string | undefined
  /** Of the host. */
  readonly clock: () => Milliseconds
  /** The setting `object_lock.clock_backwards_tolerance_seconds`. */
  readonly clockToleranceSeconds: number
}

/** What each means, and what to do; of a clock that is behind, `behindSentence` says it. These sentences are public. */
export const DEGRADATION_REASONS: Readonly<Record<Exclude<Degradation, 'clock'>, string>> = {
  uploads: 'the disk is full, and uploads are refused; free some space',
  records: 'the journal has no room for records of reads, which are answered and only counted; free some space',
  changes: 'the journal has no room, and every change is refused; free some space',
  scrub:
    'a scrub found damaged bytes; object-store storage status names the objects, and storage heal repairs them from a backup',
  journal: 'damage was found in the journal; run journal verify',
  projections:
    'a row of the projections is damaged, and what it is of answers with 503; start the server again, which derives them from the journal',
  checkpoints: 'checkpoints are refused or fail; the log says why',
}

/** What the server does not do at the moment while it serves everything else. */
export function degradations(sources: DegradationSources): Degradation[] {
  const { engine, store } = sources
  const snapshot = store.catalog.snapshot()
  const holds: Readonly<Record<Degradation, () => boolean>> = {
    uploads: () => store.space.isBelowReserve,
    records: () => engine.roomFor !== 'everything',
    changes: () => engine.roomFor === 'nothing',
    scrub: () => (snapshot.scrub()?.damage.length ?? 0) > 0,
    journal: () => sources.hasMetDamage() || sources.chain(snapshot.journalSequence()).whole?.problem !== undefined,
    projections: () => sources.damagedRow() !== undefined,
    clock: () => behindOf(sources).milliseconds > sources.clockToleranceSeconds * 1000,
    checkpoints: () => sources.checkpointFacts().refusal !== undefined,
  }
  return degradationNames.filter((name) => holds[name]())
}

/** How far the host's clock is behind the journal. */
export function behindOf({ store, clock }: Pick<DegradationSources, 'store' | 'clock'>): ClockBehind {
  return clockBehind(clock(), store.catalog.snapshot().journalMilliseconds())
}

/** What is public of one: what it means, and what to do. */
export function reasonOf(name: Degradation, sources: DegradationSources): string {
  return name === 'clock' ? behindSentence(behindOf(sources)) : DEGRADATION_REASONS[name]
}

/** What only administrators see of one: what it is about. */
export function detailOf(
  name: Degradation,
  { damagedRow }: Pick<DegradationSources, 'damagedRow'>,
): string | undefined {
  return name === 'projections' ? damagedRow() : undefined
}

interface ServerParts extends Pick<DegradationSources, 'engine'> {
  readonly engine: EngineThread
  readonly store: Pick<StoreSession, 'space' | 'catalog' | 'paths'>
  readonly config: Config
  readonly checkpoints: Pick<CheckpointWorkers, 'signing' | 'publication'>
  readonly metrics: MetricSlots
}

/** Where a running server reads its degradations from. */
export function degradationSources({ config, engine, store, checkpoints, metrics }: ServerParts): DegradationSources {
  const verdicts = new ChainVerdicts(nodeDisk, store.paths, engine.deploymentId)
  return {
    engine,
    store,
    chain: (head) => verdicts.read(head),
    checkpointFacts: () => checkpointFacts(checkpoints),
    hasMetDamage: () => metrics.total(metrics.damageSlot('audit')) > 0,
    damagedRow: () => notedDamage(nodeDisk, store.paths),
    clock: systemMilliseconds,
    clockToleranceSeconds: config['object_lock.clock_backwards_tolerance_seconds'],
  }
}
