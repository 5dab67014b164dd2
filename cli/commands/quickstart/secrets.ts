import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { environmentName } from '../../config/config-table.ts'
import type { Config, ConfigName } from '../../config/config-types.ts'
import { createDurably, syncDirectory } from '../../config/durable-file.ts'
import { existingSecretsPath, readSecrets, secretsPath, secretsPathInside } from '../../config/secrets-file.ts'
import { ExitError } from '../../exit-codes.ts'

/** The secrets that the quick start created for a data directory. */
export interface QuickstartSecrets {
  readonly path: string
  /** True if this call created the file; only then may its secrets be printed. */
  readonly created: boolean
  /** By environment variable. */
  readonly values: Readonly<Record<string, string>>
  /** Notices for the operator: the file was moved, or could not be. */
  readonly notices: readonly string[]
}

interface SecretsRequest {
  readonly config: Pick<Config, 'data_dir' | 'secrets_file'>
  /** Settings that already have a value. Nothing is generated for them, so that an injected key is not stored. */
  readonly given: ReadonlySet<ConfigName>
}

const DIRECTORY_MODE = 0o700
const ACCESS_KEY_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const ACCESS_KEY_LENGTH = 20
const ELSEWHERE = `name another file with ${environmentName('secrets_file')}`

const introduction = `# Secrets of this object store, made once by "object-store quickstart". Keep a copy in a safe place, apart from
# the copies of the data: without the master key the store cannot be opened. Never give another user read access.
`

/** The generated secrets. No value needs quotes in a shell. */
const generators: readonly { readonly setting: ConfigName; generate(): string }[] = [
  { setting: 'credential_master_key', generate: () => randomBytes(32).toString('hex') },
  {
    setting: 'root.access_key',
    generate: () => Array.from({ length: ACCESS_KEY_LENGTH }, randomAccessKeyCharacter).join(''),
  },
  { setting: 'root.secret_key', generate: () => randomBytes(30).toString('base64url') },
  { setting: 'management.system_token', generate: () => randomBytes(32).toString('base64url') },
  { setting: 'metrics.scrape_token', generate: () => randomBytes(32).toString('base64url') },
]

/** A new secret for a setting that the quick start makes one for. */
export function newSecret(setting: ConfigName): string {
  const generator = generators.find((one) => one.setting === setting)
  if (generator === undefined) throw new Error(`no secret is made for ${setting}`)
  return generator.generate()
}

function randomAccessKeyCharacter(): string {
  return ACCESS_KEY_ALPHABET.charAt(randomInt(ACCESS_KEY_ALPHABET.length))
}

function makeDirectory(path: string): void {
  const topmostMade = mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE })
  if (topmostMade === undefined) return
  // Every new directory must be durable in its parent before the store has a master key.
  for (let made = path; made.length >= topmostMade.length; made = dirname(made)) syncDirectory(dirname(made))
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/**
 * Moves a secrets file out of the data directory, so that copies of the data no longer hold the key to them. After a
 * crash at any moment it is in one place or in both.
 * @returns what to tell the operator
 * @throws ExitError `usage` if the place has a file with other secrets
 */
function moveOut(inside: string, path: string): string {
  try {
    linkSync(inside, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') {
      const reason = error instanceof Error ? error.message : String(error)
      return `the secrets stay in the data directory, where every copy of it has them: ${reason}; ${ELSEWHERE}`
    }
    if (!readFileSync(inside).equals(readFileSync(path))) {
      const message = `${inside} and ${path} hold different secrets; remove the one that does not belong to this store`
      throw new ExitError('usage', message)
    }
  }
  syncDirectory(dirname(path))
  rmSync(inside)
  syncDirectory(dirname(inside))
  return `moved the secrets from ${inside} to ${path}: a copy of the data directory no longer holds the key to it`
}

/**
 * A mounted data directory, such as a container's volume, can outlive the file next to it.
 * @throws ExitError `usage`
 */
function requireSameFileSystem(dataDirectory: string, path: string): void {
  if (statSync(dataDirectory).dev === statSync(dirname(path)).dev) return
  const why = `${dataDirectory} is on a file system of its own, which may outlive ${path}, and the secrets do not belong into it`
  throw new ExitError('usage', `${why}; ${ELSEWHERE}`)
}

/** The existing secrets file, after it was moved to its place where possible; undefined without one. */
function existingSecrets(config: SecretsRequest['config']): QuickstartSecrets | undefined {
  const path = secretsPath(config)
  const inside = secretsPathInside(config['data_dir'])
  const notices = existsSync(inside) && inside !== path ? [moveOut(inside, path)] : []
  const found = existingSecretsPath(config)
  return found === undefined ? undefined : { path: found, created: false, values: readSecrets(found), notices }
}

/**
 * Creates the data directory and its secrets file on the first start, and reads the file on every later one.
 * @throws ExitError `usage` if other users can read the file, it cannot be parsed or has no safe place; `masterKey` if the
 * directory holds a store and its master key is missing: a new key would not open it
 */
export function ensureQuickstartSecrets({ config, given }: SecretsRequest): QuickstartSecrets {
  const dataDirectory = config['data_dir']
  const path = secretsPath(config)
  const existing = existingSecrets(config)
  if (existing !== undefined) return existing
  const needed = generators.filter((generator) => !given.has(generator.setting))
  if (!given.has('credential_master_key') && existsSync(new StorePaths(dataDirectory).journal)) {
    const message = `${dataDirectory} holds a store, but its secrets file ${path} is missing; give the store's master key`
    throw new ExitError('masterKey', `${message} with ${environmentName('credential_master_key')}`)
  }
  makeDirectory(dataDirectory)
  if (needed.length === 0) return { path, created: false, values: {}, notices: [] }
  makeDirectory(dirname(path))
  if (config['secrets_file'] === undefined) requireSameFileSystem(dataDirectory, path)
  const lines = needed.map((generator) => `${environmentName(generator.setting)}=${generator.generate()}\n`)
  const created = createDurably(path, introduction + lines.join(''))
  return { path, created, values: readSecrets(path), notices: [] }
}
