import type { Bench } from './bench.ts'
import type { Figure, MachineLimit } from './figure.ts'
import { type Circumstances, readCircumstances } from './machine.ts'
import { measureMachineLimits } from './machine-limits.ts'
import type { Settings } from './options.ts'
import type { Scenario } from './scenario.ts'

/** What became of a scenario. */
export interface ScenarioResult {
  readonly name: string
  readonly title: string
  readonly outcome: 'done' | 'failed' | 'left out'
  /** Why it failed or was left out. */
  readonly reason: string | undefined
  readonly seconds: number
  /** The figures; of a failed scenario, the figures before the failure. */
  readonly figures: readonly Figure[]
}

/** Everything a run found. */
export interface RunResult {
  readonly circumstances: Circumstances
  readonly settings: Settings
  readonly seconds: number
  readonly limits: readonly MachineLimit[]
  readonly scenarios: readonly ScenarioResult[]
}

/** Filling a large store is the longest of all that is done in one scenario. */
const SCENARIO_TIMEOUT_SECONDS = 1800
const PROBE_TIMEOUT_MILLISECONDS = 10_000

/** A scenario did not end in the time it had. */
class ScenarioTimeoutError extends Error {
  override readonly name = 'ScenarioTimeoutError'
}

/**
 * Runs scenarios one after the other, also after a failed scenario.
 * @throws MissingProgramError when wrk is not installed
 */
export async function runScenarios(bench: Bench, scenarios: readonly Scenario[]): Promise<RunResult> {
  const { settings } = bench
  const started = performance.now()
  await bench.children.run('wrk', ['-v'], { timeoutMilliseconds: PROBE_TIMEOUT_MILLISECONDS })
  const circumstances = await readCircumstances(bench.children, bench.directory)
  bench.say('limits of the machine')
  const limits = await measureMachineLimits(bench)
  for (const { label, value, unit } of limits) bench.say(`    ${label}: ${value.toFixed(0)} ${unit}`)
  bench.machineLimits = limits
  const results: ScenarioResult[] = []
  for (const scenario of scenarios) {
    if (settings.only !== undefined && !settings.only.includes(scenario.name)) continue
    results.push(await runOne(bench, scenario))
  }
  return { circumstances, settings, seconds: secondsSince(started), limits, scenarios: results }
}

async function runOne(bench: Bench, scenario: Scenario): Promise<ScenarioResult> {
  const { name, title } = scenario
  bench.say(`${name}: ${title}`)
  const reason = reasonToLeaveOut(scenario, bench.settings)
  if (reason !== undefined) {
    bench.say(`    left out: ${reason}`)
    return { name, title, outcome: 'left out', reason, seconds: 0, figures: [] }
  }
  const started = performance.now()
  try {
    await withinTime(bench, scenario.run(bench))
    return {
      name,
      title,
      outcome: 'done',
      reason: undefined,
      seconds: secondsSince(started),
      figures: bench.takeFigures(),
    }
  } catch (error) {
    const message = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).replace(/\s+/g, ' ')
    bench.say(`    FAILED: ${message}`)
    const figures = bench.takeFigures()
    return { name, title, outcome: 'failed', reason: message, seconds: secondsSince(started), figures }
  }
}

function reasonToLeaveOut(scenario: Scenario, settings: Settings): string | undefined {
  if (settings.endpoint === undefined || scenario.needs === 'endpoint') return undefined
  if (scenario.needs === 'own server') return 'needs the data directory and the life of a server of our own'
  return settings.objectsGiven ? undefined : 'with --endpoint only when --objects is given: each one is sent over HTTP'
}

/** When the time is over all children are killed, which ends every wait for one of them. */
async function withinTime(bench: Bench, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      bench.children.killAll()
      reject(new ScenarioTimeoutError(`not done within ${SCENARIO_TIMEOUT_SECONDS} s`))
    }, SCENARIO_TIMEOUT_SECONDS * 1000)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function secondsSince(started: number): number {
  return Math.round(performance.now() - started) / 1000
}
