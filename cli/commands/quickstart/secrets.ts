import { randomBytes, randomInt } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { environmentName } from '../../config/config-table.ts'
import type { ConfigName } from '../../config/config-types.ts'
import { ExitError } from '../../exit-codes.ts'

/** The secrets of a data directory that the quick start created. */
export interface QuickstartSecrets {
  readonly path: string
  /** True if this call created the file; only then may its secrets be printed. */
  readonly created: boolean
  /** By environment variable. */
  readonly values: Readonly<Record<string, string>>
}

interface SecretsRequest {
  readonly dataDirectory: string
  /** Settings that already have a value. Nothing is generated for them, so that an injected key is not stored. */
  readonly given: ReadonlySet<ConfigName>
}

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700
const OTHERS_MODE_BITS = 0o077
const ACCESS_KEY_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const ACCESS_KEY_LENGTH = 20
const SECRET_LINE = /^([A-Z][A-Z0-9_]*)=(.*)$/

const introduction = `# Secrets of this object store, made once by "object-store quickstart". Keep a copy in a safe place:
# without the master key the store cannot be opened. Never give another user read access to this file.
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

function randomAccessKeyCharacter(): string {
  return ACCESS_KEY_ALPHABET.charAt(randomInt(ACCESS_KEY_ALPHABET.length))
}

/** Path of the secrets file of a data directory. */
function secretsPath(dataDirectory: string): string {
  return join(dataDirectory, 'secrets.env')
}

/** Reads `NAME=VALUE` lines; blank lines and lines that begin with `#` are skipped. The text of a bad line is never shown. */
function parseSecrets(path: string, text: string): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, name, value] = SECRET_LINE.exec(line.trimEnd()) ?? []
    if (name === undefined || value === undefined) {
      throw new ExitError('usage', `${path}: line ${index + 1} is not NAME=VALUE`)
    }
    values[name] = value
  }
  return values
}

function readSecrets(path: string): Record<string, string> {
  const descriptor = openSync(path, 'r')
  try {
    // The mode of the open file, so that the file checked is the file read.
    const mode = fstatSync(descriptor).mode & 0o777
    if ((mode & OTHERS_MODE_BITS) !== 0) {
      const octal = mode.toString(8).padStart(3, '0')
      const message = `${path} is open to other users (mode ${octal}); close it with: chmod 600 '${path}'`
      throw new ExitError('usage', message)
    }
    return parseSecrets(path, readFileSync(descriptor, 'utf8'))
  } finally {
    closeSync(descriptor)
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function makeDataDirectory(path: string): void {
  const topmostMade = mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE })
  if (topmostMade === undefined) return
  // Every new directory must be durable in its parent before it holds a master key.
  for (let made = path; made.length >= topmostMade.length; made = dirname(made)) syncDirectory(dirname(made))
}

/** Writes a private file that is complete or absent after a crash; returns false if it already exists. */
function createDurably(path: string, text: string): boolean {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const descriptor = openSync(draft, 'wx', FILE_MODE)
  try {
    const bytes = Buffer.from(text)
    if (writeSync(descriptor, bytes) !== bytes.length) throw new Error(`${draft}: the disk took only a part of it`)
    fsyncSync(descriptor)
    // Unlike a rename, a link never replaces a file that another process has just created.
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    closeSync(descriptor)
    rmSync(draft)
    syncDirectory(dirname(path))
  }
}

/**
 * Creates the data directory and its secrets file on the first start, and reads the file on every later one.
 * @throws ExitError `usage` if other users can read the file or it cannot be parsed; `masterKey` if the directory holds a
 * store and its master key is missing: a new key would not open it
 */
export function ensureQuickstartSecrets(request: SecretsRequest): QuickstartSecrets {
  const { dataDirectory, given } = request
  const path = secretsPath(dataDirectory)
  if (existsSync(path)) return { path, created: false, values: readSecrets(path) }
  const needed = generators.filter((generator) => !given.has(generator.setting))
  if (!given.has('credential_master_key') && existsSync(new StorePaths(dataDirectory).journal)) {
    const message = `${dataDirectory} holds a store, but its secrets file ${path} is missing; give the store's master key`
    throw new ExitError('masterKey', `${message} with ${environmentName('credential_master_key')}`)
  }
  makeDataDirectory(dataDirectory)
  if (needed.length === 0) return { path, created: false, values: {} }
  const lines = needed.map((generator) => `${environmentName(generator.setting)}=${generator.generate()}\n`)
  const created = createDurably(path, introduction + lines.join(''))
  return { path, created, values: readSecrets(path) }
}
