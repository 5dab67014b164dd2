/** The program that `npm run bench` starts; README.md says how to use it. */
import { Bench } from './bench.ts'
import { MissingProgramError } from './children.ts'
import { readSettings, USAGE, UsageError } from './options.ts'
import { writeReports } from './report-files.ts'
import { textReport } from './report-text.ts'
import { runScenarios } from './run.ts'
import { scenarioList } from './scenario-list.ts'

const EXIT = { failed: 1, usage: 2, interrupted: 130 } as const

process.exitCode = await main()

async function main(): Promise<number> {
  const names = scenarioList.map(({ name }) => name)
  try {
    const settings = readSettings(names)
    if (settings === undefined) {
      process.stdout.write(`${USAGE}\nScenarios: ${names.join(', ')}\n`)
      return 0
    }
    const bench = new Bench(settings, (text) => process.stderr.write(text))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        bench.close()
        process.exit(EXIT.interrupted)
      })
    }
    try {
      const run = await runScenarios(bench, scenarioList)
      process.stdout.write(`\n${textReport(run)}`)
      for (const path of writeReports(run)) process.stdout.write(`written: ${path}\n`)
      return run.scenarios.some(({ outcome }) => outcome === 'failed') ? EXIT.failed : 0
    } finally {
      bench.close()
    }
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`)
      return EXIT.usage
    }
    if (!(error instanceof MissingProgramError)) throw error
    process.stderr.write(`${error.message}\n`)
    return EXIT.failed
  }
}
