import { readFileSync } from 'node:fs'

/** The version of the package, from its package.json (this file runs as build/cli/version.js). */
export function packageVersion(): string {
  const description: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const known = typeof description === 'object' && description !== null && 'version' in description
  return known ? String(description.version) : 'unknown'
}
