import { closeSync, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExitError } from '../exit-codes.ts'
import type { Config } from './config-types.ts'
import { replaceDurably } from './durable-file.ts'

const OTHERS_MODE_BITS = 0o077
const SECRET_LINE = /^([A-Z][A-Z0-9_]*)=(.*)$/

/**
 * Path of the secrets file: the setting, or `./data.secrets.env` for the data directory `./data`. It lies next to the
 * directory, because a copy of the data directory as a backup would include its key.
 */
export function secretsPath(config: Pick<Config, 'data_dir' | 'secrets_file'>): string {
  return config['secrets_file'] ?? `${config['data_dir']}.secrets.env`
}

/** Where the quick start kept the secrets of a data directory until it kept them outside. */
export function secretsPathInside(dataDirectory: string): string {
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

/**
 * The values of a secrets file by environment variable.
 * @throws ExitError `usage` if other users can read or change the file, or a line of it cannot be read
 */
export function readSecrets(path: string): Record<string, string> {
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

/**
 * Changes lines of a secrets file and leaves the others, comments too, as they are. After a crash all are changed or none.
 * @param changes by environment variable; undefined removes the line
 * @throws ExitError `usage` as `readSecrets` does
 */
export function changeSecrets(path: string, changes: Readonly<Record<string, string | undefined>>): void {
  readSecrets(path)
  const kept = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => !Object.hasOwn(changes, SECRET_LINE.exec(line.trimEnd())?.[1] ?? ''))
  const added = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  replaceDurably(path, `${kept.join('\n').trimEnd()}\n${added.map((line) => `${line}\n`).join('')}`)
}

/** The secrets file that there is, in its place or where it was kept before. */
export function existingSecretsPath(config: Pick<Config, 'data_dir' | 'secrets_file'>): string | undefined {
  return [secretsPath(config), secretsPathInside(config['data_dir'])].find((path) => existsSync(path))
}

/**
 * The values of the secrets file, or undefined without a file that this user may read: then they come from elsewhere,
 * and a command that needs one reports it missing.
 * @throws ExitError `usage` as `readSecrets` does
 */
export function secretsIfAny(config: Pick<Config, 'data_dir' | 'secrets_file'>): Record<string, string> | undefined {
  const path = existingSecretsPath(config)
  try {
    return path === undefined ? undefined : readSecrets(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') return undefined
    throw error
  }
}
