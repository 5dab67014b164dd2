import { ExitError } from '../exit-codes.ts'

/** The configuration cannot be used. Every problem that was found is listed, and no secret is shown in any. */
export class ConfigError extends ExitError {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super('usage', ['the configuration is wrong:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}
