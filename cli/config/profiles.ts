import { parse } from 'smol-toml'
import { ExitError } from '../exit-codes.ts'
import { visibleText } from '../terminal/visible-text.ts'
import { tomlProblem } from './toml-problem.ts'

/** One table of the profiles file. */
export interface Profile {
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly token_file?: string | undefined
  readonly ca_file?: string | undefined
}

const MEMBERS = ['url', 'token', 'token_file', 'ca_file']

/**
 * A profile from the text of the profiles file; `path` is for messages.
 * @throws ExitError `usage`
 */
export function readProfile(path: string, text: string, name: string): Profile {
  let tables: Record<string, unknown>
  try {
    tables = parse(text)
  } catch (error) {
    throw new ExitError('usage', `${path}: ${tomlProblem(error)}`)
  }
  const profile = Object.hasOwn(tables, name) ? tables[name] : undefined
  if (typeof profile !== 'object' || profile === null) {
    const known = Object.keys(tables).map(visibleText).join(', ') || 'none'
    throw new ExitError('usage', `${path} has no profile ${name}; it has: ${known}`)
  }
  for (const [member, value] of Object.entries(profile)) {
    if (!MEMBERS.includes(member)) throw new ExitError('usage', `${path}: unknown key ${name}.${member}`)
    if (typeof value !== 'string') throw new ExitError('usage', `${path}: ${name}.${member} must be a string`)
  }
  return profile as Profile
}
