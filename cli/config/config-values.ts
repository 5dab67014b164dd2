import { resolve } from 'node:path'
import { CheckpointNoteError, readVerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { isBucketName, overlongKeyBytes } from '../../engine/domain/names.ts'
import { parseAddress } from './address.ts'
import type { ConfigForm, ConfigKind, ConfigRow } from './config-row.ts'
import type { ConfigValues } from './config-types.ts'
import { decodeMasterKey } from './master-key.ts'
import { networkProblem } from '../../planes/http/limits/trusted-proxies.ts'
import { readWhole } from '../values/quantity.ts'
import { Secret } from './secret.ts'

/** Either the value, or its fault, to be printed after the name of the setting. */
type ParsedValue = { readonly value: ConfigValues[ConfigKind] } | { readonly problem: string }

type Parser = (row: ConfigRow, given: unknown, workingDirectory: string) => ParsedValue

/** Labels of letters, digits, hyphens and underscores, which some resolvers have, at most 253 characters. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/
/** As records of the journal take it. */
const LOG_NAME = /^[A-Za-z0-9._/-]{1,255}$/
const ACCESS_KEY = /^[A-Za-z0-9._-]+$/

/** An address that paths are appended to. */
function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\/[^?#@\s]+$/.test(text) || !URL.canParse(text)) return false
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname}`.replace(/\/+$/, '') === text.replace(/\/+$/, '')
}

/** Checks of the form of a text or secret. The messages never show the value, which may be a secret. */
const forms: Readonly<Record<ConfigForm, { accepts(text: string): boolean; problem: string }>> = {
  'access-key': {
    accepts: (text) => ACCESS_KEY.test(text),
    problem: 'may contain only letters, digits, dots, underscores and hyphens',
  },
  'log-name': {
    accepts: (text) => /^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(text),
    problem: 'must be letters, digits, dots, slashes, underscores and hyphens, and begin with a letter or digit',
  },
  'base-url': {
    accepts: isBaseUrl,
    problem: 'must be an http or https URL without query, fragment and credentials, such as https://files.example.com',
  },
  'master-key': {
    accepts: (text) => decodeMasterKey(text) !== undefined,
    problem: 'must be 64 hexadecimal digits or the base64 of exactly 32 bytes',
  },
}

/** A value for a message, shortened so that a pasted file does not fill the terminal. */
function shown(given: unknown): string {
  // A table of a TOML file has no prototype and cannot be converted by String.
  const text = typeof given === 'string' || typeof given === 'object' ? JSON.stringify(given) : String(given)
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`
}

/** An array in a file, elsewhere one text with commas; undefined for anything else. */
function listOf(given: unknown): readonly unknown[] | undefined {
  if (typeof given === 'string') return given.split(',')
  return Array.isArray(given) ? given : undefined
}

function textProblem(row: ConfigRow, text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  if (row.bounds !== undefined && bytes < row.bounds.minimum) return `is shorter than ${row.bounds.minimum} bytes`
  if (row.bounds !== undefined && bytes > row.bounds.maximum) return `is longer than ${row.bounds.maximum} bytes`
  // A control character in a credential is always a mistake in quoting.
  if (/\p{Cc}/u.test(text)) return 'contains a control character'
  const form = row.form === undefined ? undefined : forms[row.form]
  return form === undefined || form.accepts(text) ? undefined : form.problem
}

/** The key of a log, as `checkpoint key` prints it. */
function logKeyProblem(key: string): string | undefined {
  try {
    return LOG_NAME.test(readVerifierKey(key).name)
      ? undefined
      : 'the name of the log must be at most 255 letters, digits, dots, slashes, underscores and hyphens'
  } catch (error) {
    if (error instanceof CheckpointNoteError) return error.message
    throw error
  }
}

const parsers: Readonly<Record<ConfigKind, Parser>> = {
  text(row, given) {
    if (typeof given !== 'string') return { problem: `${shown(given)} is not a string` }
    const problem = textProblem(row, given)
    return problem === undefined ? { value: given } : { problem }
  },
  secret(row, given) {
    if (typeof given !== 'string') return { problem: 'must be a string' }
    const problem = textProblem(row, given)
    return problem === undefined ? { value: new Secret(given) } : { problem }
  },
  integer(row, given) {
    const written = typeof given === 'string' ? readWhole(given, row.unit) : { value: given }
    if ('problem' in written) return written
    const number = written.value
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) {
      return { problem: `${shown(given)} is not a whole number` }
    }
    const { minimum, maximum } = row.bounds ?? { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
    if (number >= minimum && number <= maximum) return { value: number }
    return { problem: `${number} is out of range: ${minimum} to ${maximum} ${row.unit ?? ''}` }
  },
  boolean(_row, given) {
    if (given === true || given === 'true') return { value: true }
    if (given === false || given === 'false') return { value: false }
    return { problem: `${shown(given)} is neither true nor false` }
  },
  address(_row, given) {
    const address = typeof given === 'string' ? parseAddress(given) : undefined
    if (address !== undefined) return { value: address }
    return { problem: `${shown(given)} is not host:port, such as 127.0.0.1:7600` }
  },
  path(_row, given, workingDirectory) {
    if (typeof given !== 'string' || given.includes('\0')) return { problem: `${shown(given)} is not a path` }
    return { value: resolve(workingDirectory, given) }
  },
  choice(row, given) {
    const choices = row.choices ?? []
    // `true` and `false` are words of the TOML language.
    const text = typeof given === 'boolean' ? String(given) : given
    if (typeof text === 'string' && choices.includes(text)) return { value: text }
    return { problem: `${shown(given)} is not one of ${choices.join(', ')}` }
  },
  choices(row, given) {
    const choices = row.choices ?? []
    const parts = given === '' ? [] : listOf(given)
    if (parts === undefined) return { problem: `${shown(given)} is not a list of names` }
    const named = new Set(parts.map((part) => (typeof part === 'string' ? part.trim() : part)))
    const wrong = [...named].find((name) => !choices.some((choice) => choice === name))
    if (wrong !== undefined) return { problem: `${shown(wrong)} is not one of ${choices.join(', ')}` }
    return { value: Object.freeze(choices.filter((choice) => named.has(choice))) }
  },
  'host names'(row, given) {
    const parts = listOf(given) ?? []
    const names = parts.map((part) => (typeof part === 'string' ? part.trim().toLowerCase() : ''))
    const wrong = names.findIndex((name) => name !== '*' && !HOST_NAME.test(name))
    if (wrong !== -1)
      return { problem: `${shown(parts[wrong])} is not a host name, such as store.example without a port` }
    const { minimum, maximum } = row.bounds ?? { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
    if (names.length >= minimum && names.length <= maximum) return { value: Object.freeze(names) }
    return { problem: `must be ${minimum} to ${maximum} host names` }
  },
  networks(row, given) {
    const parts = given === '' ? [] : listOf(given)
    if (parts === undefined) return { problem: `${shown(given)} is not a list of addresses` }
    const entries = parts.map((part) => (typeof part === 'string' ? part.trim() : ''))
    const maximum = row.bounds?.maximum ?? 0
    if (entries.length > maximum) return { problem: `has ${entries.length} entries; at most ${maximum} are allowed` }
    for (const [at, entry] of entries.entries()) {
      const problem = networkProblem(entry)
      if (problem !== undefined) return { problem: `${shown(parts[at])} ${problem}` }
    }
    return { value: Object.freeze(entries) }
  },
  'prefixes of keys'(row, given) {
    const parts = given === '' ? [] : listOf(given)
    if (parts === undefined) return { problem: `${shown(given)} is not a list of prefixes` }
    const prefixes = parts.map((part) => (typeof part === 'string' ? part.trim() : ''))
    const maximum = row.bounds?.maximum ?? 0
    if (prefixes.length > maximum) return { problem: `has ${prefixes.length} entries; at most ${maximum} are allowed` }
    const wrong = prefixes.findIndex((prefix) => !isPrefixOfKeys(prefix))
    if (wrong === -1) return { value: Object.freeze(prefixes) }
    return { problem: `${shown(parts[wrong])} is not BUCKET/PREFIX, such as photos/public/, without *` }
  },
  'log keys'(row, given) {
    const parts = given === '' ? [] : listOf(given)
    if (parts === undefined) return { problem: `${shown(given)} is not a list of keys` }
    const keys = parts.map((part) => (typeof part === 'string' ? part.trim() : ''))
    const maximum = row.bounds?.maximum ?? 0
    if (keys.length > maximum) return { problem: `has ${keys.length} keys; at most ${maximum} are allowed` }
    const problems = keys.map(
      (key, at) => logKeyProblem(key) ?? (keys.indexOf(key) < at ? 'is there twice' : undefined),
    )
    const wrong = problems.findIndex((problem) => problem !== undefined)
    if (wrong === -1) return { value: Object.freeze(keys) }
    return { problem: `key ${wrong + 1}, ${shown(parts[wrong])}: ${problems[wrong]}` }
  },
}

/**
 * Reads one value.
 * @param given the value of an option or variable (always text), or of a TOML file (typed)
 * @param workingDirectory base of relative paths
 */
export function parseValue(row: ConfigRow, given: unknown, workingDirectory: string): ParsedValue {
  return parsers[row.kind](row, given, workingDirectory)
}

/** Every key of the bucket has the empty prefix. */
function isPrefixOfKeys(text: string): boolean {
  const slash = text.indexOf('/')
  const prefix = text.slice(slash + 1)
  return (
    isBucketName(text.slice(0, Math.max(0, slash))) && !prefix.includes('*') && overlongKeyBytes(prefix) === undefined
  )
}
