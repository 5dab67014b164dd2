/** Configurations from what a spec gives. */
import { ConfigError } from '../../cli/config/config-error.ts'
import { type ConfigInputs, readConfig } from '../../cli/config/read-config.ts'

export function read(inputs: Partial<ConfigInputs>) {
  return readConfig({ workingDirectory: '/work-place', ...inputs })
}

/** The problems of a configuration that must be refused. */
export function problemsOf(inputs: Partial<ConfigInputs>): readonly string[] {
  try {
    read(inputs)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  throw new Error('the configuration was accepted')
}

export function file(text: string) {
  return { path: 'store.toml', text }
}
