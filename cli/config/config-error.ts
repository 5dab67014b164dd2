import { ExitError } from '../exit-codes.ts'

/** The configuration cannot be used. Lists every problem and shows no secret. */
export class ConfigError extends ExitError {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super('usage', ['the configuration is wrong:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}
