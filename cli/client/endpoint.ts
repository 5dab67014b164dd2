import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CliContext } from '../cli-context.ts'
import { exposureWarning } from '../config/exposed-file.ts'
import { readSecrets } from '../config/secrets-file.ts'
import { readSecretFiles } from '../config/secret-variables.ts'
import { type Profile, readProfile } from '../config/profiles.ts'
import { ExitError } from '../exit-codes.ts'
import type { Endpoint } from './management-client.ts'

/** In a file of secrets. */
const SYSTEM_TOKEN = 'OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN'
const DEFAULT_URL = 'http://127.0.0.1:7601'

interface EndpointFlags {
  readonly url: string | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly secretsFile: string | undefined
  readonly caFile: string | undefined
  readonly profile: string | undefined
  /** Whether the root credential of the environment is sent, and no token. */
  readonly root: boolean
}

/** The variables of the environment that name the server and the token. */
interface Surroundings {
  readonly url: string | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
}

/**
 * The server to talk to and the credential to use: first from options, then from the profile of `--profile`, then from the
 * environment (OBJECT_STORE_URL, OBJECT_STORE_TOKEN or OBJECT_STORE_TOKEN_FILE), then from the profile of
 * OBJECT_STORE_PROFILE. A profile that is asked for by name goes before the environment, so that its token reaches no other
 * server ([0045](../../spec/decisions/0045-commands-and-their-server.md)).
 * @throws ExitError `usage`
 */
export function endpointOf(flags: EndpointFlags, context: CliContext): Endpoint {
  const { environment, workingDirectory } = context
  const profile = profileOf(flags.profile ?? environment['OBJECT_STORE_PROFILE'], context)
  const isChosen = flags.profile !== undefined && flags.profile !== ''
  const variable = (name: string) => environment[name] || undefined
  const hasToken = isChosen && (profile.token ?? profile.token_file) !== undefined
  const around: Surroundings = {
    url: isChosen && profile.url !== undefined ? undefined : variable('OBJECT_STORE_URL'),
    token: hasToken ? undefined : variable('OBJECT_STORE_TOKEN'),
    tokenFile: hasToken ? undefined : variable('OBJECT_STORE_TOKEN_FILE'),
  }
  const url = flags.url ?? around.url ?? profile.url ?? DEFAULT_URL
  if (!/^https?:\/\/[^/]/.test(url))
    throw new ExitError('usage', `${url}: an address must begin with http:// or https://`)
  if (!URL.canParse(url)) throw new ExitError('usage', `${url} is not a valid address`)
  const caFile = flags.caFile ?? profile.ca_file
  const certificates = caFile === undefined ? undefined : readText(resolve(workingDirectory, caFile))
  return { url, authorization: authorizationOf(flags, around, profile, context), certificates }
}

function authorizationOf(
  flags: EndpointFlags,
  around: Surroundings,
  profile: Profile,
  context: CliContext,
): string | undefined {
  if (flags.root) return rootCredential(flags, context)
  if (flags.secretsFile !== undefined) return `Bearer ${systemToken(flags, flags.secretsFile, context)}`
  const token = tokenOf(flags, around, profile, context)
  return token === undefined ? undefined : `Bearer ${token}`
}

/** The root credential as HTTP Basic. Only from the environment: every user of the machine can read command lines. */
function rootCredential({ token, tokenFile, secretsFile }: EndpointFlags, context: CliContext): string {
  if (token !== undefined || tokenFile !== undefined || secretsFile !== undefined) {
    throw new ExitError(
      'usage',
      '--root sends the root credential; it cannot be combined with --token, --token-file or --secrets-file',
    )
  }
  const own = Object.entries(context.environment).filter(([name]) => name.startsWith('OBJECT_STORE_ROOT_'))
  const environment = Object.fromEntries(own)
  const problems: string[] = []
  const files = readSecretFiles(environment, context.workingDirectory, problems)
  if (problems.length > 0) throw new ExitError('usage', problems.join('\n'))
  const accessKey = environment['OBJECT_STORE_ROOT_ACCESS_KEY'] || files.get('root.access_key')?.value
  const secretKey = environment['OBJECT_STORE_ROOT_SECRET_KEY'] || files.get('root.secret_key')?.value
  if (!accessKey || !secretKey) {
    const names = 'OBJECT_STORE_ROOT_ACCESS_KEY and OBJECT_STORE_ROOT_SECRET_KEY'
    throw new ExitError('usage', `--root needs ${names}, or with _FILE at the end the names of files that hold them`)
  }
  return `Basic ${Buffer.from(`${accessKey}:${secretKey}`).toString('base64')}`
}

/** The system token in a file of secrets, which only its owner may read. */
function systemToken({ token, tokenFile }: EndpointFlags, file: string, context: CliContext): string {
  if (token !== undefined || tokenFile !== undefined) {
    throw new ExitError('usage', '--secrets-file holds a token; it cannot be combined with --token or --token-file')
  }
  const path = resolve(context.workingDirectory, file)
  if (!existsSync(path)) throw new ExitError('usage', `${path} does not exist`)
  const found = readSecrets(path)[SYSTEM_TOKEN]
  if (found === undefined) throw new ExitError('usage', `${path} has no ${SYSTEM_TOKEN}`)
  return found
}

/** Warns if all users of the machine can read the token in a file. */
function warnOfExposure(path: string, { stderr }: CliContext): void {
  const warning = exposureWarning(path)
  if (warning !== undefined) stderr.write(`object-store: warning: ${warning}\n`)
}

function tokenOf(
  flags: EndpointFlags,
  around: Surroundings,
  profile: Profile,
  context: CliContext,
): string | undefined {
  if (flags.token !== undefined) return flags.token
  const { token, tokenFile } = around
  if (flags.tokenFile === undefined && token !== undefined && tokenFile !== undefined) {
    throw new ExitError('usage', 'OBJECT_STORE_TOKEN and OBJECT_STORE_TOKEN_FILE are both set; keep one of the two')
  }
  const file = flags.tokenFile ?? tokenFile ?? (token === undefined ? profile.token_file : undefined)
  if (file !== undefined) {
    const path = resolve(context.workingDirectory, file)
    const text = readText(path)
    warnOfExposure(path, context)
    return text.trim()
  }
  return token ?? profile.token
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ExitError('usage', `${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Path of the profiles file (XDG base directories). */
function profilesPath(environment: CliContext['environment']): string {
  const base = environment['XDG_CONFIG_HOME'] || resolve(environment['HOME'] ?? '.', '.config')
  return resolve(base, 'object-store', 'profiles.toml')
}

function profileOf(name: string | undefined, context: CliContext): Profile {
  if (name === undefined || name === '') return {}
  const path = profilesPath(context.environment)
  if (!existsSync(path)) {
    const form = `[${name}] with url = "https://..." and token_file = "..."`
    throw new ExitError('usage', `there is no profile ${name}: ${path} does not exist; write into it ${form}`)
  }
  const profile = readProfile(path, readText(path), name)
  if (profile.token !== undefined) warnOfExposure(path, context)
  return profile
}
