import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from './config-error.ts'
import type { ResolvedConfig } from './config-types.ts'
import { type ConfigInputs, readConfig } from './read-config.ts'

/** Where the configuration comes from. */
interface ConfigOrigins {
  readonly flags: Readonly<Record<string, string>>
  /** Value of --config; overrides OBJECT_STORE_CONFIG. */
  readonly configPath?: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly secrets?: Readonly<Record<string, string>>
}

function readFile(path: string): { path: string; text: string } {
  try {
    return { path, text: readFileSync(path, 'utf8') }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([`${path}: cannot be read: ${reason}`])
  }
}

/**
 * Reads the TOML file, if one is named, and the configuration.
 * @throws ConfigError
 */
export function loadConfig(origins: ConfigOrigins): ResolvedConfig {
  // An empty variable counts as not given, like any other.
  const named = origins.configPath ?? (origins.environment['OBJECT_STORE_CONFIG'] || undefined)
  const inputs: ConfigInputs = {
    flags: origins.flags,
    environment: origins.environment,
    workingDirectory: origins.workingDirectory,
    ...(named === undefined ? {} : { file: readFile(resolve(origins.workingDirectory, named)) }),
    ...(origins.secrets === undefined ? {} : { secrets: origins.secrets }),
  }
  return readConfig(inputs)
}
