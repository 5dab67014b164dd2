import { ConfigError } from './config-error.ts'
import {
  type ConfigLayer,
  defaultLayer,
  environmentLayer,
  fileLayer,
  flagLayer,
  profileLayer,
  secretFileLayer,
} from './config-layers.ts'
import { configRelations } from './config-relations.ts'
import type { ConfigRow } from './config-row.ts'
import { configTable } from './config-table.ts'
import type { Config, ConfigSources, ResolvedConfig } from './config-types.ts'
import { parseValue } from './config-values.ts'

/** Everything the configuration is read from. */
export interface ConfigInputs {
  /** Values of options by dotted name. */
  readonly flags?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** The TOML file. */
  readonly file?: { readonly path: string; readonly text: string }
  /** The secrets file of the quick start, by environment variable. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Base of relative paths. */
  readonly workingDirectory: string
}

/** The sources, the strongest first: values of the operator override generated ones. */
function layersOf(inputs: ConfigInputs, problems: string[]): readonly ConfigLayer[] {
  const given = [
    flagLayer(inputs.flags ?? {}, problems),
    environmentLayer(inputs.environment ?? {}, problems),
    secretFileLayer(inputs.environment ?? {}, inputs.workingDirectory, problems),
    ...(inputs.file === undefined ? [] : [fileLayer(inputs.file.path, inputs.file.text, problems)]),
    ...(inputs.secrets === undefined ? [] : [environmentLayer(inputs.secrets, problems, 'secrets file')]),
  ]
  return [...given, profileLayer(given), defaultLayer()]
}

interface ReadValues extends ResolvedConfig {
  readonly problems: string[]
  /** Settings whose value cannot be read. */
  readonly bad: ReadonlySet<string>
}

/** Each setting by itself. */
function readValues(inputs: ConfigInputs): ReadValues {
  const problems: string[] = []
  const layers = layersOf(inputs, problems)
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  const bad = new Set<string>()
  for (const row of configTable as readonly ConfigRow[]) {
    const layer = layers.find((candidate) => candidate.values.has(row.name))
    sources[row.name] = layer?.source ?? 'default'
    values[row.name] = undefined
    if (layer === undefined) continue
    const parsed = parseValue(row, layer.values.get(row.name), inputs.workingDirectory)
    if ('problem' in parsed) {
      bad.add(row.name)
      problems.push(`${layer.label(row.name)}: ${parsed.problem}`)
    } else values[row.name] = parsed.value
  }
  // The loop above parsed each row by its kind, from which the types are made.
  return { config: Object.freeze(values) as Config, sources: Object.freeze(sources) as ConfigSources, problems, bad }
}

/** Faults of settings in combination. */
function relationProblems({ config, bad }: ReadValues): string[] {
  return configRelations.flatMap((relation) => {
    if (relation.settings.some((name) => bad.has(name))) return []
    const problem = relation.problem(config)
    return problem === undefined ? [] : [`${relation.settings.join(' and ')}: ${problem}`]
  })
}

/**
 * Where the data and the secrets file are. Combinations are not checked, since the secrets file may have the other half of one.
 * @throws ConfigError as `readConfig` does, if a setting by itself is wrong
 */
export function readPlaces(inputs: ConfigInputs): Pick<Config, 'data_dir' | 'secrets_file'> {
  const read = readValues(inputs)
  if (read.problems.length > 0) throw new ConfigError([...read.problems, ...relationProblems(read)])
  return read.config
}

/**
 * Reads the configuration: flag, then environment (and the files of secrets that it names), then TOML file, then secrets file,
 * then what `s3.profile` stands for, then default.
 * @throws ConfigError with every problem at once: unknown names, unreadable values, combinations that are not allowed
 */
export function readConfig(inputs: ConfigInputs): ResolvedConfig {
  const read = readValues(inputs)
  const problems = [...read.problems, ...relationProblems(read)]
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze({ config: read.config, sources: read.sources })
}
