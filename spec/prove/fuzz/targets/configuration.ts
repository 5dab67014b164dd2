/** What an operator writes: the configuration file, profiles, addresses. */
import { parse } from 'smol-toml'
import { formatAddress, parseAddress } from '../../../../cli/config/address.ts'
import { ConfigError } from '../../../../cli/config/config-error.ts'
import type { ConfigRow } from '../../../../cli/config/config-row.ts'
import { configTable, environmentName } from '../../../../cli/config/config-table.ts'
import { readProfile } from '../../../../cli/config/profiles.ts'
import { readConfig } from '../../../../cli/config/read-config.ts'
import { ExitError } from '../../../../cli/exit-codes.ts'
import { Secret } from '../../../../cli/config/secret.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const ROWS = configTable as readonly ConfigRow[]
/** What a message must never show. */
const SECRET = 'a-secret-that-nobody-may-see-0123'

const SECRETS = ROWS.filter(({ kind }) => kind === 'secret').map(({ name }) => name)

/** Whether a message shows a secret that stands behind the name of one, and nowhere else. */
function showsSecret(text: string, starts: readonly string[], message: string): boolean {
  const lines = text.split('\n').filter((line) => line.includes(SECRET))
  return lines.every((line) => starts.some((start) => line.startsWith(start))) && message.includes(SECRET)
}

const DOTTED = ROWS.map(({ name }) => name)
const SETTINGS = ROWS.flatMap(({ name, default: standard }) =>
  standard === undefined ? [] : [`${name} = ${JSON.stringify(standard)}\n`],
)

/** The values of a file by dotted name, found without the reader; only tables are gone into. */
function naiveValues(text: string): Map<string, unknown> {
  const values = new Map<string, unknown>()
  const visit = (table: object, prefix: string): void => {
    for (const [name, value] of Object.entries(table)) {
      const path = `${prefix}${name}`
      if (DOTTED.includes(path) || typeof value !== 'object' || value === null || value instanceof Date) {
        values.set(path, value)
      } else visit(value as object, `${path}.`)
    }
  }
  visit(parse(text), '')
  return values
}

/** What is wrong with a value by its row; only what no reading of the table allows. */
function valueFault(row: ConfigRow, value: unknown): string | undefined {
  const { minimum, maximum } = row.bounds ?? { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
  switch (row.kind) {
    case 'integer':
      return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum
        ? undefined
        : 'integer'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'boolean'
    case 'choice':
      return row.choices?.includes(value as string) === true ? undefined : 'choice'
    case 'path':
      return typeof value === 'string' && value.startsWith('/') && !value.includes('\0') ? undefined : 'path'
    case 'secret':
      return value instanceof Secret ? undefined : 'secret'
    case 'text':
      return typeof value === 'string' && !/\p{Cc}/u.test(value) ? undefined : 'text'
    case 'address':
      return addressFault(value as { host: string; port: number })
  }
}

function addressFault({ host, port }: { readonly host: string; readonly port: number }): string | undefined {
  return host !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535 ? undefined : 'address'
}

/** Whether every value is one that its row allows. */
function checkValues(config: object): void {
  for (const row of ROWS) {
    const value = (config as Readonly<Record<string, unknown>>)[row.name]
    const fault = value === undefined ? undefined : valueFault(row, value)
    mustHold(fault === undefined, `${row.name} is ${String(value)}, which is no ${fault}`)
  }
}

/** A refusal, which shows no secret. @param starts what a line with a secret may begin with */
function refusedFor(error: unknown, text: string, starts: readonly string[]): Verdict {
  if (!(error instanceof ConfigError || error instanceof ExitError)) throw error
  mustHold(!showsSecret(text, starts, error.message), 'a message shows a secret')
  return refused(error.message.replaceAll(/"[^"]*"|\d+/g, '#').slice(0, 50))
}

function judgeFile(input: Buffer): Verdict {
  const text = input.toString()
  try {
    const { config, sources } = readConfig({ file: { path: 'file.toml', text }, workingDirectory: '/data' })
    const written = naiveValues(text)
    checkValues(config)
    for (const { name } of ROWS) {
      const source = (sources as Readonly<Record<string, string>>)[name]
      mustBeSame(source === 'file', written.has(name), `${name} comes from ${source}`)
    }
    for (const name of written.keys()) mustHold(DOTTED.includes(name), `${name} is no setting`)
    return accepted(`${Math.min(written.size, 5)} settings`)
  } catch (error) {
    return refusedFor(
      error,
      text,
      SECRETS.map((name) => `${name} = "`),
    )
  }
}

/** Lines of the environment, `NAME=value`. */
function judgeEnvironment(input: Buffer): Verdict {
  const lines = input
    .toString('latin1')
    .split('\n')
    .map((line) => [line.split('=')[0] ?? '', line.split('=').slice(1).join('=')])
  const environment = Object.fromEntries(lines.filter(([name]) => name !== ''))
  try {
    const { config } = readConfig({ environment, workingDirectory: '/data' })
    checkValues(config)
    for (const { name } of ROWS) {
      const value = (config as Readonly<Record<string, unknown>>)[name]
      mustHold(!(value instanceof Secret) || Boolean(environment[environmentName(name)]), `${name} from nowhere`)
    }
    return accepted()
  } catch (error) {
    const starts = SECRETS.map((name) => `${environmentName(name)}=`)
    return refusedFor(error, input.toString('latin1'), starts)
  }
}

/** A file of profiles; `one` is asked for. */
function judgeProfile(input: Buffer): Verdict {
  const text = input.toString()
  try {
    const profile = readProfile('profiles.toml', text, 'one')
    const table = (parse(text) as Readonly<Record<string, Readonly<Record<string, unknown>>>>)['one'] ?? {}
    mustBeSame(Object.entries(profile), Object.entries(table), 'the profile')
    for (const [name, value] of Object.entries(profile)) {
      mustHold(PROFILE.includes(name) && typeof value === 'string', `${name} is ${typeof value}`)
    }
    return accepted()
  } catch (error) {
    return refusedFor(error, text, ['token = "'])
  }
}

const PROFILE = ['url', 'token', 'token_file', 'ca_file']

function judgeAddress(input: Buffer): Verdict {
  const text = input.toString()
  const address = parseAddress(text)
  if (address === undefined) return refused()
  mustBeSame(addressFault(address), undefined, text)
  mustHold(!/[\s/\\@?#\0]/.test(address.host), `the host ${JSON.stringify(address.host)}`)
  mustBeSame(parseAddress(formatAddress(address)), address, 'the address again')
  return accepted()
}

const TOML = [...'[ ] [[ ]] = "'.split(' '), "'", ...'""" \n # . true 1_000 0x1F 1e3 inf nan { } \\u0000'.split(' ')]
const ENVIRONMENT = ROWS.filter(({ kind }) => kind !== 'path').map(({ name }) => `${environmentName(name)}=`)

export const CONFIGURATION_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'configuration-file',
    seeds: [SETTINGS.join(''), '', '[s3]\nbind = "127.0.0.1:0"\n', ...SETTINGS],
    words: [
      ...TOML,
      ...SETTINGS,
      ...DOTTED,
      ...DOTTED.map((name) => `[${name.split('.')[0]}]\n`),
      ...SECRETS.map((name) => `\n${name} = "${SECRET}"\n`),
      '1979-05-27',
      SECRET,
      '__proto__',
    ],
    bytesMaximum: 32 * 1024,
    judge: judgeFile,
  },
  {
    name: 'environment',
    seeds: [
      'OBJECT_STORE_S3_BIND=127.0.0.1:7600',
      `OBJECT_STORE_ROOT_ACCESS_KEY=abcdefgh\nOBJECT_STORE_ROOT_SECRET_KEY=${SECRET}`,
      '',
    ],
    words: [...ENVIRONMENT, '\n', '=', SECRET, 'true', 'false', '127.0.0.1:1', '[::1]:2', '__proto__='],
    bytesMaximum: 32 * 1024,
    judge: judgeEnvironment,
  },
  {
    name: 'profiles',
    seeds: [
      `[one]\nurl = "http://a:1"\ntoken = "${SECRET}"\n`,
      'one = {}',
      '[two]\n[one]\nca_file = "/a"\ntoken_file = "b"\n',
    ],
    words: [...TOML, '[one]\n', 'one', `\ntoken = "${SECRET}"\n`, 'url = "a"\n', '__proto__'],
    bytesMaximum: 32 * 1024,
    judge: judgeProfile,
  },
  {
    name: 'address',
    seeds: ['127.0.0.1:7600', '[::1]:0', 'localhost:65535'],
    words: [':', '[', ']', '::', '.', '65536', '0', '%eth0', '/', '@', '::ffff:1.2.3.4'],
    bytesMaximum: 4096,
    judge: judgeAddress,
  },
]
