/** What a soak says at its end. */
import type { ProofResult } from '../proof.ts'
import type { FinalSizes } from './final-check.ts'
import { type LifeGauges, levelOf, median, type Reading, slopeOf, slopesWithin } from './growth.ts'
import { type Tally, tableOf } from './tally.ts'

const MEBIBYTE = 1024 ** 2
/** In MiB: this process keeps recipes, not bytes. */
const CLIENT_MAXIMUM = 1536
const CLIENT_DRIFT_MAXIMUM = 256

/** Whether the load itself grows. @param resident RSS in MiB at the end of each life */
export function clientGrowth(resident: readonly number[]): string[] {
  const drift = slopeOf(resident.map((value, index): Reading => [index, value])) * (resident.length - 1)
  const most = Math.max(...resident)
  return [
    ...(drift > CLIENT_DRIFT_MAXIMUM ? [`the load grew by ${drift.toFixed(0)} MiB`] : []),
    ...(most > CLIENT_MAXIMUM ? [`the load held ${most.toFixed(0)} MiB`] : []),
  ]
}

/** Answers by kind, lives by number, sizes at the end. */
export function sayTables(
  say: (line: string) => void,
  tally: Tally,
  lives: readonly LifeGauges[],
  client: readonly number[],
  sizes: FinalSizes,
): void {
  for (const line of tableOf(tally.rows())) say(line)
  for (const [event, count] of tally.events) say(`${event}: ${count}`)
  for (const [index, life] of lives.entries()) say(lifeLine(life, client[index] ?? Number.NaN))
  const slopes = slopesWithin(lives)
  const slope = slopes.length === 0 ? 'no life was long enough to tell' : `${median(slopes).toFixed(1)} MiB a minute`
  say(`growth within a life: ${slope}`)
  const { records, journal, payloads, live, projections } = sizes
  say(`${records.toLocaleString('en')} records: journal ${mebibytes(journal)}, projections ${mebibytes(projections)}`)
  say(`payloads ${mebibytes(payloads)} on the disk, of which ${mebibytes(live)} live`)
}

function mebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(0)} MiB`
}

function lifeLine(life: LifeGauges, client: number): string {
  const most = Math.max(0, ...life.anonymous.map(([, value]) => value))
  const level = levelOf(life)
  const warm = Number.isNaN(level) ? '' : `, ${level.toFixed(0)} when warm`
  const parts = [
    `life ${life.number}: ${life.seconds.toFixed(0)} s, ${life.requests.toLocaleString('en')} requests`,
    `memory at most ${most.toFixed(0)} MiB${warm}; resident at most ${life.residentMaximum.toFixed(0)}`,
    `descriptors at most ${life.descriptorsMaximum}, ${life.descriptorsQuiet ?? 'unknown'} beside sockets and volumes when quiet`,
    `load ${client.toFixed(0)} MiB`,
  ]
  return parts.join('; ')
}

export function resultOf(minutes: number, tally: Tally, restarts: number): ProofResult {
  const { error, lost, growth } = tally.found
  const requests = tally.sum('answered').toLocaleString('en')
  const grown = growth === 0 ? 'no growth' : `${growth} signs of growth`
  const time = `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  return {
    summary: `${time}, ${requests} requests, ${restarts} restarts, ${error} errors, ${lost} lost, ${grown}`,
    passed: error + lost + growth === 0,
  }
}
