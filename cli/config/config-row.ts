/** Definition of a setting: its type, its bounds, its default, and the sentence that explains it. */

/** Type of a value; config-values.ts has one parser for each kind. */
export type ConfigKind =
  | 'text'
  | 'integer'
  | 'boolean'
  | 'address'
  | 'path'
  | 'secret'
  | 'choice'
  | 'choices'
  | 'host names'
  | 'log keys'
  | 'networks'
  | 'prefixes of keys'

/** Further rules for a text or secret; config-values.ts has one check for each. */
export type ConfigForm = 'access-key' | 'master-key' | 'base-url' | 'log-name'

export interface ConfigRow {
  /** Dotted name: the key in a TOML file (`s3.bind` is `bind` in the table `[s3]`). */
  readonly name: string
  readonly kind: ConfigKind
  /** Unit of an integer in words. */
  readonly unit?: string
  /** Inclusive. Of an integer: its value in `unit`; of a text or secret: its length in bytes; of host names and keys: how many. */
  readonly bounds?: { readonly minimum: number; readonly maximum: number }
  readonly choices?: readonly string[]
  readonly form?: ConfigForm
  /** Secrets never have one. */
  readonly default?: string | number | boolean | readonly string[]
  /** Its own option; any other setting is given by `--set name=value`. */
  readonly flag?: string
  /** `start` if absent. */
  readonly sentence: string
}
