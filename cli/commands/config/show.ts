import { Command, Option } from 'clipanion'
import { formatAddress } from '../../config/address.ts'
import { boundsText, configDocument, defaultText } from './config-document.ts'
import type { ConfigRow } from '../../config/config-row.ts'
import { configTable, environmentName } from '../../config/config-table.ts'
import type { ConfigName, ResolvedConfig } from '../../config/config-types.ts'
import { ConfigCommand } from './config-command.ts'
import { textTable } from '../../terminal/text-table.ts'

type Shown = string | number | boolean | null

/** A value as it is printed: a marker for a secret, null if missing. */
function shownValue({ config }: ResolvedConfig, name: ConfigName): Shown {
  const value = config[name]
  if (value === undefined) return null
  if (typeof value !== 'object') return value
  if (Array.isArray(value) && value.length === 0) return 'none'
  return 'port' in value ? formatAddress(value) : value.toString()
}

function textLines(resolved: ResolvedConfig): string[] {
  const header = ['SETTING', 'ENVIRONMENT', 'VALUE', 'SOURCE', 'DEFAULT', 'UNIT', 'MEANING']
  const rows = configTable.map((row: ConfigRow & { readonly name: ConfigName }) => {
    const value = shownValue(resolved, row.name)
    return [
      row.name,
      environmentName(row.name),
      value === null ? '(not set)' : String(value),
      value === null ? '-' : resolved.sources[row.name],
      defaultText(row),
      row.unit ?? '-',
      row.sentence,
    ]
  })
  return textTable([header, ...rows])
}

function jsonLines(resolved: ResolvedConfig): string[] {
  return configTable.map((row: ConfigRow & { readonly name: ConfigName }) => {
    const value = shownValue(resolved, row.name)
    return JSON.stringify({
      name: row.name,
      environment: environmentName(row.name),
      value,
      source: value === null ? null : resolved.sources[row.name],
      default: row.default ?? null,
      kind: row.kind,
      unit: row.unit ?? '',
      bounds: boundsText(row),
      meaning: row.sentence,
    })
  })
}

export class ConfigShowCommand extends ConfigCommand {
  static override paths = [['config', 'show']]

  static override usage = Command.Usage({
    category: 'Configuration',
    description: 'print every setting, its value and where the value comes from',
    details: 'Secrets are never shown. For an invalid configuration all problems are printed instead.',
    examples: [
      ['What would the server start with', '$0 config show --config object-store.toml'],
      ['One JSON object per line', '$0 config show --json'],
      ['The page that documents the settings', '$0 config show --markdown'],
    ],
  })

  json = Option.Boolean('--json', false, { description: 'print one JSON object per line' })
  markdown = Option.Boolean('--markdown', false, {
    description: 'the page spec/manual/configuration.md, without values',
  })

  override async execute(): Promise<number> {
    if (this.markdown) {
      this.context.stdout.write(configDocument())
      return 0
    }
    const resolved = this.readConfig()
    const lines = this.json ? jsonLines(resolved) : textLines(resolved)
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return 0
  }
}
