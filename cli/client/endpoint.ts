import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'smol-toml'
import type { CliContext } from '../cli-context.ts'
import { ExitError } from '../exit-codes.ts'
import type { Endpoint } from './management-client.ts'

export const DEFAULT_URL = 'http://127.0.0.1:7601'

/** What the flags of a client command say. */
export interface EndpointFlags {
  readonly url: string | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly caFile: string | undefined
  readonly profile: string | undefined
}

/** One table of the profiles file. */
interface Profile {
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly token_file?: string | undefined
  readonly ca_file?: string | undefined
}

const PROFILE_MEMBERS = ['url', 'token', 'token_file', 'ca_file']

/**
 * Which server to talk to, and by which token: the flags go before the environment (OBJECT_STORE_URL,
 * OBJECT_STORE_TOKEN), and that before the profile (`--profile`, OBJECT_STORE_PROFILE).
 * @throws ExitError `usage`
 */
export function endpointOf(flags: EndpointFlags, context: CliContext): Endpoint {
  const { environment, workingDirectory } = context
  const profile = readProfile(flags.profile ?? environment['OBJECT_STORE_PROFILE'], context)
  const url = flags.url ?? environment['OBJECT_STORE_URL'] ?? profile.url ?? DEFAULT_URL
  if (!/^https?:\/\/[^/]/.test(url)) throw new ExitError('usage', `${url}: an address begins with http:// or https://`)
  const caFile = flags.caFile ?? profile.ca_file
  const certificates = caFile === undefined ? undefined : readText(resolve(workingDirectory, caFile))
  return { url, token: tokenOf(flags, profile, context), certificates }
}

function tokenOf(
  flags: EndpointFlags,
  profile: Profile,
  { environment, workingDirectory }: CliContext,
): string | undefined {
  if (flags.token !== undefined) return flags.token
  const file = flags.tokenFile ?? (environment['OBJECT_STORE_TOKEN'] === undefined ? profile.token_file : undefined)
  if (file !== undefined) return readText(resolve(workingDirectory, file)).trim()
  return environment['OBJECT_STORE_TOKEN'] ?? profile.token
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ExitError('usage', `${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Where profiles are kept, by the rules of the XDG base directories. */
export function profilesPath(environment: CliContext['environment']): string {
  const base = environment['XDG_CONFIG_HOME'] || resolve(environment['HOME'] ?? '.', '.config')
  return resolve(base, 'object-store', 'profiles.toml')
}

function readProfile(name: string | undefined, { environment }: CliContext): Profile {
  if (name === undefined || name === '') return {}
  const path = profilesPath(environment)
  let tables: Record<string, unknown>
  try {
    tables = parse(readText(path))
  } catch (error) {
    if (error instanceof ExitError) throw error
    throw new ExitError('usage', `${path} is no TOML: ${(error as Error).message}`)
  }
  const profile = Object.hasOwn(tables, name) ? tables[name] : undefined
  if (typeof profile !== 'object' || profile === null) throw new ExitError('usage', `${path} has no profile ${name}`)
  for (const [member, value] of Object.entries(profile)) {
    if (!PROFILE_MEMBERS.includes(member)) throw new ExitError('usage', `${path}: ${name}.${member} is not known`)
    if (typeof value !== 'string') throw new ExitError('usage', `${path}: ${name}.${member} must be a text`)
  }
  return profile as Profile
}
