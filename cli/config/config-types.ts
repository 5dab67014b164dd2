import type { configTable } from './config-table.ts'
import type { Secret } from './secret.ts'

/** A socket address. */
export interface Address {
  /** IPv4 address, IPv6 address without brackets, or host name. */
  readonly host: string
  /** 0 to 65535; 0 takes any free port. */
  readonly port: number
}

/** What a value of each kind is after it was read. */
export interface ConfigValues {
  readonly text: string
  readonly integer: number
  readonly boolean: boolean
  readonly address: Address
  /** Absolute. */
  readonly path: string
  readonly secret: Secret
  readonly choice: string
}

type Row = (typeof configTable)[number]

type ValueOf<R extends Row> = R extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : ConfigValues[R['kind']]

/** Dotted name of a setting. */
export type ConfigName = Row['name']

/** The whole configuration, frozen: `config['s3.bind'].port`. Settings without a default may be undefined. */
export type Config = {
  readonly [R in Row as R['name']]: R extends { readonly default: unknown } ? ValueOf<R> : ValueOf<R> | undefined
}

/** Where a value came from, the strongest first. */
export const configSources = ['flag', 'environment', 'file', 'secrets file', 'default'] as const
export type ConfigSource = (typeof configSources)[number]

/** The source of every value. */
export type ConfigSources = { readonly [Name in ConfigName]: ConfigSource }

export interface ResolvedConfig {
  readonly config: Config
  readonly sources: ConfigSources
}
