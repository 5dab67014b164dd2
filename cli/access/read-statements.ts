import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isPolicyOfAws, POLICY_OF_AWS } from '../../planes/management/access/policy-document.ts'
import { ExitError } from '../exit-codes.ts'

/**
 * The statements in a JSON file: a list of them, or an object with such a list. The server checks them.
 * @throws ExitError `usage` for a file that is not JSON or a policy of AWS, and the system's error for an unreadable file
 */
export function readStatements(directory: string, file: string): unknown {
  const path = resolve(directory, file)
  const text = readFileSync(path, 'utf8')
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    throw new ExitError('usage', `${path} is not valid JSON: ${(error as Error).message}`)
  }
  if (isPolicyOfAws(document)) throw new ExitError('usage', `${path}: Statement ${POLICY_OF_AWS}`)
  return Array.isArray(document) ? document : (document as { statements?: unknown } | null)?.statements
}
