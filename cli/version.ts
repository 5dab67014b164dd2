import { readFileSync } from 'node:fs'

/** What a JSON file of the package says; empty when it cannot be read. */
function said(file: URL): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** The version of the package, from its package.json (this file runs as build/cli/version.js). */
export function packageVersion(): string {
  return String(said(new URL('../../package.json', import.meta.url))['version'] ?? 'unknown')
}

/**
 * The commit that the program was built from: 12 characters, the last of which is `+` when files differed from it. Undefined when it
 * was built without git (spec/name-commit.mjs).
 */
export function buildCommit(): string | undefined {
  const { commit } = said(new URL('../../build/program/commit.json', import.meta.url))
  return typeof commit === 'string' ? commit : undefined
}

/** Version and commit, for people. */
export function versionText(): string {
  const commit = buildCommit()
  return `${packageVersion()} (${commit === undefined ? 'built without git' : `commit ${commit}`})`
}
