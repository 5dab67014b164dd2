import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ConfigRow } from './config-row.ts'
import { configTable, environmentName } from './config-table.ts'

/** More than any secret has: a file named by mistake is refused, and not read whole. */
const BYTES_MAXIMUM = 4096

/** Settings of credentials: the secrets, and the access key that belongs to one. */
function isOfCredential(row: ConfigRow): boolean {
  return row.kind === 'secret' || row.form === 'access-key'
}

/**
 * Settings by the variable that names a file with their value, as containers and service managers hand secrets over:
 * OBJECT_STORE_ROOT_SECRET_KEY_FILE is `root.secret_key`.
 */
export const settingByFileVariable: ReadonlyMap<string, string> = new Map(
  (configTable as readonly ConfigRow[])
    .filter(isOfCredential)
    .map(({ name }) => [`${environmentName(name)}_FILE`, name] as const),
)

/** A value from a file. */
interface SecretFile {
  readonly variable: string
  readonly path: string
  readonly value: string
}

/** The beginning of a file: one byte more than a secret may have, so that the length tells. */
function beginningOf(path: string): Buffer {
  const descriptor = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(BYTES_MAXIMUM + 1)
    return bytes.subarray(0, readSync(descriptor, bytes))
  } finally {
    closeSync(descriptor)
  }
}

/** The text of a file without the line end that editors put after it, or its fault. */
function secretIn(path: string): { readonly value: string } | { readonly problem: string } {
  let bytes: Buffer
  try {
    bytes = beginningOf(path)
  } catch (error) {
    return { problem: `cannot be read: ${error instanceof Error ? error.message : String(error)}` }
  }
  if (bytes.length > BYTES_MAXIMUM) return { problem: `is longer than ${BYTES_MAXIMUM} bytes, too long for a secret` }
  const value = bytes.toString('utf8').replace(/\r?\n$/, '')
  return value === '' ? { problem: 'is empty' } : { value }
}

/**
 * Reads the files that variables ending in _FILE name, by setting. An empty variable counts as not given.
 * @param problems gets the faults; a faulty setting has no value
 */
export function readSecretFiles(
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
  problems: string[],
): ReadonlyMap<string, SecretFile> {
  const files = new Map<string, SecretFile>()
  for (const [variable, name] of settingByFileVariable) {
    const given = environment[variable]
    if (given === undefined || given === '') continue
    if ((environment[environmentName(name)] ?? '') !== '') {
      problems.push(`${variable}: ${environmentName(name)} is set as well; keep one of the two`)
      continue
    }
    const path = resolve(workingDirectory, given)
    const read = secretIn(path)
    if ('problem' in read) problems.push(`${variable}: ${path} ${read.problem}`)
    else files.set(name, { variable, path, value: read.value })
  }
  return files
}
