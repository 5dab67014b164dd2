import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CliContext } from '../cli-context.ts'
import { exposureWarning } from '../config/exposed-file.ts'
import { type Profile, readProfile } from '../config/profiles.ts'
import { ExitError } from '../exit-codes.ts'
import type { Endpoint } from './management-client.ts'

const DEFAULT_URL = 'http://127.0.0.1:7601'

interface EndpointFlags {
  readonly url: string | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly caFile: string | undefined
  readonly profile: string | undefined
}

/**
 * The server to talk to and the token to use: first from options, then from the environment (OBJECT_STORE_URL,
 * OBJECT_STORE_TOKEN or OBJECT_STORE_TOKEN_FILE), then from the profile (`--profile`, OBJECT_STORE_PROFILE).
 * @throws ExitError `usage`
 */
export function endpointOf(flags: EndpointFlags, context: CliContext): Endpoint {
  const { environment, workingDirectory } = context
  const profile = profileOf(flags.profile ?? environment['OBJECT_STORE_PROFILE'], context)
  const url = flags.url ?? environment['OBJECT_STORE_URL'] ?? profile.url ?? DEFAULT_URL
  if (!/^https?:\/\/[^/]/.test(url)) throw new ExitError('usage', `${url}: an address begins with http:// or https://`)
  if (!URL.canParse(url)) throw new ExitError('usage', `${url} is not a valid address`)
  const caFile = flags.caFile ?? profile.ca_file
  const certificates = caFile === undefined ? undefined : readText(resolve(workingDirectory, caFile))
  return { url, token: tokenOf(flags, profile, context), certificates }
}

/** Warns where everybody can read the token in a file. */
function warnOfExposure(path: string, { stderr }: CliContext): void {
  const warning = exposureWarning(path)
  if (warning !== undefined) stderr.write(`object-store: warning: ${warning}\n`)
}

function tokenOf(flags: EndpointFlags, profile: Profile, context: CliContext): string | undefined {
  const { environment, workingDirectory } = context
  if (flags.token !== undefined) return flags.token
  const given = environment['OBJECT_STORE_TOKEN']
  const named = environment['OBJECT_STORE_TOKEN_FILE'] || undefined
  if (flags.tokenFile === undefined && given && named !== undefined) {
    throw new ExitError('usage', 'OBJECT_STORE_TOKEN and OBJECT_STORE_TOKEN_FILE are both set; keep one of the two')
  }
  const file = flags.tokenFile ?? named ?? (given === undefined ? profile.token_file : undefined)
  if (file !== undefined) {
    const path = resolve(workingDirectory, file)
    const text = readText(path)
    warnOfExposure(path, context)
    return text.trim()
  }
  return given ?? profile.token
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
  const profile = readProfile(path, readText(path), name)
  if (profile.token !== undefined) warnOfExposure(path, context)
  return profile
}
