import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isPolicyOfAws } from '../../engine/aws-policies/aws-policy.ts'
import { ExitError } from '../exit-codes.ts'

/**
 * The members of a policy but its name, from a JSON file: of a list of statements, of an object with such a list, or of a
 * policy of AWS. The server checks them.
 * @throws ExitError `usage` for a file that is not JSON, and the system's error for an unreadable file
 */
export function readPolicy(directory: string, file: string): Readonly<Record<string, unknown>> {
  const path = resolve(directory, file)
  const text = readFileSync(path, 'utf8')
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    throw new ExitError('usage', `${path} is not valid JSON: ${(error as Error).message}`)
  }
  if (isPolicyOfAws(document)) return withoutName(document)
  return { statements: Array.isArray(document) ? document : (document as { statements?: unknown } | null)?.statements }
}

/** A member `name` is refused as any other that a policy of AWS has not: the name of the policy is an argument. */
function withoutName(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if ('name' in document) throw new ExitError('usage', 'a policy of AWS has no name: it is an argument')
  return document
}
