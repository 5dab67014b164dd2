import type { configTable } from './config-table.ts'
import type { Secret } from './secret.ts'

/** A socket address. */
export interface Address {
  /** IPv4 address, IPv6 address without brackets, or host name. */
  readonly host: string
  /** 0 to 65535; 0 takes any free port. */
  readonly port: number
}

/** Type of a parsed value of each kind. */
export interface ConfigValues {
  readonly text: string
  readonly integer: number
  readonly boolean: boolean
  readonly address: Address
  /** Absolute. */
  readonly path: string
  readonly secret: Secret
  readonly choice: string
  /** Each once, in the order of the table. */
  readonly choices: readonly string[]
  /** In lower case, without ports. */
  readonly 'host names': readonly string[]
  /** In the form NAME+ID+KEY, which was checked. */
  readonly 'log keys': readonly string[]
  /** Addresses, and networks with a prefix length. */
  readonly networks: readonly string[]
  /** In the form BUCKET/PREFIX. */
  readonly 'prefixes of keys': readonly string[]
}

type Row = (typeof configTable)[number]

type ValueOf<R extends Row> = R extends { readonly choices: readonly (infer Choice)[] }
  ? R['kind'] extends 'choices'
    ? readonly Choice[]
    : Choice
  : ConfigValues[R['kind']]

/** Dotted name of a setting. */
export type ConfigName = Row['name']

/** The whole configuration, frozen. Settings without a default may be undefined. */
export type Config = {
  readonly [R in Row as R['name']]: R extends { readonly default: unknown } ? ValueOf<R> : ValueOf<R> | undefined
}

/** Where a value comes from, the strongest first; `profile`: what `s3.profile` stands for. */
export type ConfigSource = 'flag' | 'environment' | 'file' | 'secrets file' | 'profile' | 'default'

/** The source of every value. */
export type ConfigSources = { readonly [Name in ConfigName]: ConfigSource }

export interface ResolvedConfig {
  readonly config: Config
  readonly sources: ConfigSources
}
