import { parse } from 'smol-toml'
import { didYouMean } from '../terminal/nearest-name.ts'
import { PROFILES } from '../../planes/objects/s3-extensions.ts'
import { configTable, ENVIRONMENT_PREFIX, environmentName, reservedEnvironmentNames } from './config-table.ts'
import type { ConfigSource } from './config-types.ts'
import { S3_PROFILES } from './s3-profiles.ts'
import { readSecretFiles, settingByFileVariable } from './secret-variables.ts'
import { tomlProblem } from './toml-problem.ts'

/** The values of one source by dotted name, not parsed yet, and their names in messages. */
export interface ConfigLayer {
  readonly source: ConfigSource
  readonly values: ReadonlyMap<string, unknown>
  /** Name of a setting in this source: the option, the environment variable, the key in the file. */
  label(name: string): string
}

const names: ReadonlySet<string> = new Set(configTable.map((row) => row.name))
const nameByEnvironment: ReadonlyMap<string, string> = new Map(
  configTable.map((row) => [environmentName(row.name), row.name]),
)
const flagByName: ReadonlyMap<string, string> = new Map(
  configTable.flatMap((row) => ('flag' in row ? [[row.name, row.flag] as const] : [])),
)
const secretNames: ReadonlySet<string> = new Set(
  configTable.filter((row) => row.kind === 'secret').map((row) => row.name),
)

/** Options by dotted name. Refuses secrets: every user of the machine can read command lines. */
export function flagLayer(flags: Readonly<Record<string, string>>, problems: string[]): ConfigLayer {
  const values = new Map<string, unknown>()
  for (const [name, value] of Object.entries(flags)) {
    if (!names.has(name)) problems.push(`--set ${name}: unknown setting${didYouMean(name, names)}`)
    else if (secretNames.has(name)) {
      problems.push(`--set ${name}: a secret is not taken from the command line; set ${environmentName(name)}`)
    } else values.set(name, value)
  }
  return { source: 'flag', values, label: (name) => flagByName.get(name) ?? `--set ${name}` }
}

/**
 * Variables that Kubernetes puts into the environment of every container for a service named `object-store...`
 * (Kubernetes, Environment variables of services): not settings of the user.
 */
const SERVICE_VARIABLES: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/_(SERVICE_HOST|PORT_\d+_(TCP|UDP|SCTP)_ADDR)$/, /^[0-9a-f.:]+$/i],
  [/_(SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)_PORT)$/, /^\d+$/],
  [/_PORT_\d+_(TCP|UDP|SCTP)_PROTO$/, /^(tcp|udp|sctp)$/],
  [/_PORT(_\d+_(TCP|UDP|SCTP))?$/, /^(tcp|udp|sctp):\/\//],
]

/** The names in an environment that belong to Kubernetes services and to no setting. */
export function serviceVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([key, value = '']) => {
    if (!key.startsWith(ENVIRONMENT_PREFIX) || nameByEnvironment.has(key)) return []
    const name = key.slice(ENVIRONMENT_PREFIX.length - 1)
    return SERVICE_VARIABLES.some(([known, form]) => known.test(name) && form.test(value)) ? [key] : []
  })
}

/**
 * The variables that begin with OBJECT_STORE_. An empty value counts as not given, because tools that pass optional
 * variables on make an absent one empty.
 * @param source the environment itself, or the secrets file, which has the same form
 */
export function environmentLayer(
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
  source: 'environment' | 'secrets file' = 'environment',
): ConfigLayer {
  const values = new Map<string, unknown>()
  const ofServices = new Set(source === 'environment' ? serviceVariables(environment) : [])
  const known = [...nameByEnvironment.keys(), ...settingByFileVariable.keys(), ...Object.keys(reservedEnvironmentNames)]
  for (const [key, value] of Object.entries(environment)) {
    if (!key.startsWith(ENVIRONMENT_PREFIX) || Object.hasOwn(reservedEnvironmentNames, key)) continue
    if (ofServices.has(key) || (source === 'environment' && settingByFileVariable.has(key))) continue
    const name = nameByEnvironment.get(key)
    if (name === undefined) {
      problems.push(`${key}: unknown setting${didYouMean(key, known)}`)
    } else if (value !== undefined && value !== '') values.set(name, value)
  }
  const place = source === 'environment' ? '' : `${source}: `
  return { source, values, label: (name) => `${place}${environmentName(name)}` }
}

/** The secrets in files that the environment names: OBJECT_STORE_CREDENTIAL_MASTER_KEY_FILE and others. */
export function secretFileLayer(
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
  problems: string[],
): ConfigLayer {
  const files = readSecretFiles(environment, workingDirectory, problems)
  const values = new Map([...files].map(([name, { value }]) => [name, value]))
  const label = (name: string) => `${files.get(name)?.variable}: ${files.get(name)?.path}`
  return { source: 'environment', values, label }
}

type Table = Readonly<Record<string, unknown>>

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

function isPrefix(name: string): boolean {
  return configTable.some((row) => row.name.startsWith(`${name}.`))
}

/** Turns nested tables into dotted names; the value of a setting is not flattened. */
function flatten(table: Table, prefix: string, into: [name: string, value: unknown][]): void {
  for (const [key, value] of Object.entries(table)) {
    const name = `${prefix}${key}`
    // An empty table of an unknown name must be refused like any other unknown key.
    const entered = isTable(value) && !names.has(name) && (Object.keys(value).length > 0 || isPrefix(name))
    if (entered) flatten(value, `${name}.`, into)
    else into.push([name, value])
  }
}

/** The settings of a TOML file. */
export function fileLayer(path: string, text: string, problems: string[]): ConfigLayer {
  const values = new Map<string, unknown>()
  const found: [name: string, value: unknown][] = []
  try {
    flatten(parse(text), '', found)
  } catch (error) {
    problems.push(`${path}: ${tomlProblem(error)}`)
  }
  for (const [name, value] of found) {
    if (!names.has(name)) problems.push(`${path}: ${name}: unknown setting${didYouMean(name, names)}`)
    else if (values.has(name)) problems.push(`${path}: ${name}: set twice`)
    else values.set(name, value)
  }
  return { source: 'file', values, label: (name) => `${path}: ${name}` }
}

/** What the profile stands for that the strongest of these layers names; nothing for an unknown name, a fault of that setting. */
export function profileLayer(layers: readonly ConfigLayer[]): ConfigLayer {
  const name = layers.find(({ values }) => values.has('s3.profile'))?.values.get('s3.profile')
  const profile = PROFILES.find((known) => known === name)
  const values = new Map<string, unknown>(profile === undefined ? [] : Object.entries(S3_PROFILES[profile]))
  return { source: 'profile', values, label: (setting) => `s3.profile: ${setting}` }
}

/** The defaults of the table. */
export function defaultLayer(): ConfigLayer {
  const values = new Map<string, unknown>(
    configTable.flatMap((row) => ('default' in row ? [[row.name, row.default] as const] : [])),
  )
  return { source: 'default', values, label: (name) => `default of ${name}` }
}
