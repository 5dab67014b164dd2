import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from './config-error.ts'
import { exposureWarning } from './exposed-file.ts'
import { serviceVariables } from './config-layers.ts'
import { configTable } from './config-table.ts'
import type { ResolvedConfig } from './config-types.ts'
import { type ConfigInputs, readConfig, readPlaces } from './read-config.ts'
import { settingByFileVariable } from './secret-variables.ts'
import { secretsIfAny } from './secrets-file.ts'

/** Where the configuration comes from. */
interface ConfigOrigins {
  readonly flags: Readonly<Record<string, string>>
  /** Value of --config; overrides OBJECT_STORE_CONFIG. */
  readonly configPath?: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
}

interface LoadedConfig extends ResolvedConfig {
  /** Settings that are allowed but not advisable. */
  readonly warnings: readonly string[]
}

/** Files with secrets: the TOML file, if it holds one, and the files that variables name. */
function secretPaths({ sources }: ResolvedConfig, path: string | undefined, origins: ConfigOrigins): string[] {
  const hasSecret = configTable.some(({ kind, name }) => kind === 'secret' && sources[name] === 'file')
  const named = [...settingByFileVariable.keys()].flatMap((variable) => origins.environment[variable] || [])
  const paths = named.map((given) => resolve(origins.workingDirectory, given))
  return path === undefined || !hasSecret ? paths : [path, ...paths]
}

function serviceWarning(environment: ConfigOrigins['environment']): string[] {
  const names = serviceVariables(environment)
  if (names.length === 0) return []
  return [
    `${names.join(', ')}: of a Kubernetes service and ignored; enableServiceLinks: false in the pod keeps them out`,
  ]
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
 * Reads the TOML file, if one is named, the secrets file, if there is one, and the configuration.
 * @throws ConfigError
 */
export function loadConfig(origins: ConfigOrigins): LoadedConfig {
  // An empty variable counts as not given, like any other.
  const named = origins.configPath ?? (origins.environment['OBJECT_STORE_CONFIG'] || undefined)
  const inputs: ConfigInputs = {
    flags: origins.flags,
    environment: origins.environment,
    workingDirectory: origins.workingDirectory,
    ...(named === undefined ? {} : { file: readFile(resolve(origins.workingDirectory, named)) }),
  }
  const secrets = secretsIfAny(readPlaces(inputs))
  const all = readConfig(secrets === undefined ? inputs : { ...inputs, secrets })
  const exposed = secretPaths(all, inputs.file?.path, origins).flatMap((path) => exposureWarning(path) ?? [])
  const warnings = [...exposed, ...serviceWarning(origins.environment)]
  return { ...all, warnings }
}
