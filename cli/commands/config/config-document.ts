import type { ConfigRow } from '../../config/config-row.ts'
import { configTable, environmentName, reservedEnvironmentNames } from '../../config/config-table.ts'

const flags = configTable.flatMap((row) => ('flag' in row ? [`\`${row.flag}\``] : [])).join(', ')

const introduction = `# Configuration

This page is printed by \`object-store config show --markdown\` from the tables in \`cli/config/settings/\`.

A value is taken from the first of these that has one:

1. a flag: ${flags}, and \`--set name=value\`
   for any setting that is not a secret;
2. the environment; an empty value counts as not given. Secrets and the root access key can be in files instead, as Docker,
   Kubernetes and systemd hand them over: the name with \`_FILE\` at its end, such as
   \`OBJECT_STORE_ROOT_SECRET_KEY_FILE=/run/secrets/root\`. A line end after the secret is left out; both names at once are
   refused;
3. the TOML file named by \`--config\` or \`OBJECT_STORE_CONFIG\`, where \`s3.bind\` is the key \`bind\` of the table \`[s3]\`;
4. the secrets file that \`object-store quickstart\` makes, \`./data.secrets.env\` for \`./data\`;
5. for settings of the S3 plane, the profile that \`s3.profile\` names: [what it stands for](operating.md#strict-and-compatible);
6. the default.

A name in the environment that begins with \`OBJECT_STORE_\` and is not on this page is refused, and so is an unknown key
in the file. Variables that Kubernetes makes for a service named like the store (\`OBJECT_STORE_PORT=tcp://...\`) are ignored
with a warning. All problems are reported at once. Relative paths begin from the working directory. Settings
are read at every start. The bounds of a text or a
secret are its length in bytes, those of host names and log keys how many there may be. Host names, log keys and choices are an array in the file, and
elsewhere one text with commas. A number with a unit of time, size or rate can be written with another one, as text:
\`1h30m\`, \`7d\`, \`64KiB\`, \`1GiB\`, \`16MiB/s\`; \`KiB\` is 1,024 bytes and \`KB\` is 1,000. Secrets have no default, are not taken from flags, and are never shown.
`

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

/** `1 to 300`, the choices, or nothing. */
export function boundsText(row: ConfigRow): string {
  if (row.choices !== undefined) return row.choices.join(', ')
  return row.bounds === undefined ? '' : `${row.bounds.minimum} to ${row.bounds.maximum}`
}

/** The default as it is printed. */
export function defaultText(row: ConfigRow): string {
  if (row.default === undefined) return '-'
  return Array.isArray(row.default) && row.default.length === 0 ? 'none' : String(row.default)
}

/** A Markdown table with aligned columns. */
function tableLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [header, ...rows].map((row) => row.map(cell))
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => (row[column] ?? '').length)))
  const [head = [], ...body] = cells
  return [head, widths.map((width) => '-'.repeat(width)), ...body].map(
    (row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  )
}

/** The page spec/manual/configuration.md. */
export function configDocument(): string {
  const rows = (configTable as readonly ConfigRow[]).map((row) => [
    `\`${row.name}\``,
    `\`${environmentName(row.name)}\``,
    row.kind,
    row.unit ?? '',
    boundsText(row),
    row.default === undefined ? '' : `\`${defaultText(row)}\``,
    row.sentence,
  ])
  const header = ['setting', 'environment', 'kind', 'unit', 'bounds', 'default', 'meaning']
  const reserved = Object.entries(reservedEnvironmentNames).map(([name, sentence]) => [`\`${name}\``, sentence])
  return [
    introduction,
    '## Settings',
    '',
    ...tableLines(header, rows),
    '',
    '## Other names in the environment',
    '',
    ...tableLines(['environment', 'meaning'], reserved),
    '',
  ].join('\n')
}
