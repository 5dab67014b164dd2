import { bars, judge, type Verdict } from './bars.ts'
import type { Figure, LimitName, MachineLimit, Unit } from './figure.ts'
import type { RunResult, ScenarioResult } from './run.ts'

/** A figure with its bar, limits and notes. */
export interface ReportRow {
  readonly figure: Figure
  readonly bar: { readonly value: number; readonly better: 'higher' | 'lower' } | undefined
  readonly verdict: Verdict | undefined
  /** The lowest of the machine's limits that bound the figure. */
  readonly limit: MachineLimit | undefined
}

export const COLUMNS = [
  '',
  'figure',
  'unit',
  'p50 ms',
  'p99 ms',
  'server us',
  'bar',
  '',
  'limit of the machine',
] as const

/** The figures of a scenario with their bars and limits. */
export function reportRows(run: RunResult, scenario: ScenarioResult): ReportRow[] {
  return scenario.figures.map((figure) => {
    const judged = judge(figure, run.settings.objects)
    return {
      figure,
      bar: judged === undefined ? undefined : { value: judged.bar.value, better: judged.bar.better },
      verdict: judged?.verdict,
      limit: lowest(run.limits, figure.limits ?? [], figure.unit),
    }
  })
}

function lowest(limits: readonly MachineLimit[], names: readonly LimitName[], unit: Unit): MachineLimit | undefined {
  const candidates = limits.filter((limit) => names.includes(limit.name) && limit.unit === unit)
  return candidates.toSorted((left, right) => left.value - right.value)[0]
}

/** The cells of a row under COLUMNS. */
export function cells({ figure, bar, verdict, limit }: ReportRow): string[] {
  return [
    figure.label,
    number(figure.value),
    figure.unit,
    figure.latency === undefined ? '' : figure.latency.p50.toFixed(2),
    figure.latency === undefined ? '' : figure.latency.p99.toFixed(2),
    figure.processorMicroseconds === undefined ? '' : number(figure.processorMicroseconds),
    bar === undefined ? '' : `${bar.better === 'higher' ? '>=' : '<='} ${number(bar.value)}`,
    verdict ?? '',
    limit === undefined ? '' : `${number(limit.value)} (${limit.name})`,
  ]
}

/** Large numbers whole and in groups, small ones with two places. */
export function number(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en')
  return value.toFixed(2)
}

/** Remarks in words: failures, skipped scenarios, bars, and why figures may be unreliable. */
export function remarks(run: RunResult): string[] {
  const { circumstances, settings, scenarios } = run
  const rows = scenarios.flatMap((scenario) => reportRows(run, scenario))
  const count = (verdict: Verdict) => rows.filter((row) => row.verdict === verdict).length
  const [met, missed] = [count('met'), count('missed')]
  const unmeasured = bars.length - met - missed
  return [
    `Bars: ${met} met, ${missed} missed, ${unmeasured} not measured or not judged.`,
    ...(settings.quick ? ['Quick run: each measurement is short and stores are small, so figures are rough.'] : []),
    ...(circumstances.dirty ? ['The working tree differs from the commit.'] : []),
    ...(settings.endpoint === undefined ? [] : [`The server measured is ${settings.endpoint.url}.`]),
    ...(settings.serverSettings.length === 0 ? [] : [`Server settings: ${settings.serverSettings.join(', ')}.`]),
    ...(settings.profileDirectory === undefined ? [] : ['The server wrote processor profiles, which slows it.']),
    ...(circumstances.loadAverageBefore > 0.5
      ? [`The machine was not at rest before the run: its load average was ${circumstances.loadAverageBefore}.`]
      : []),
    ...(circumstances.fileSystem.startsWith('tmpfs') ? ['Data directories were in memory: syncs cost nothing.'] : []),
    ...scenarios
      .filter(({ outcome }) => outcome !== 'done')
      .map(({ name, outcome, reason }) => `${name} ${outcome === 'failed' ? 'FAILED' : outcome}: ${reason}`),
  ]
}

/** Machine, version and conditions of the run, as pairs. */
export function circumstancesRows({ circumstances, settings, seconds }: RunResult): [string, string][] {
  const { commit, dirty, processor, cores, memoryGibibytes, kernel, node, fileSystem, date } = circumstances
  return [
    ['date', date],
    ['commit', dirty ? `${commit}, with changes` : commit],
    ['machine', `${processor}, ${cores} cores, ${memoryGibibytes} GiB`],
    ['system', `Linux ${kernel}, Node ${node}, ${fileSystem}`],
    ['run', `${settings.seconds} s a measurement, ${Math.round(seconds)} s in all`],
  ]
}
