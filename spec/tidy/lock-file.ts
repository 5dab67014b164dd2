/** What must be true of the lock file, so that a clean clone installs from any registry. */
import { packageOf } from './imports.ts'
import type { Finding } from './project-files.ts'

interface LockedPackage {
  readonly resolved?: string
  readonly link?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

const PATH = 'package-lock.json'

/** Name of the package that is installed at a place such as `node_modules/a/node_modules/@b/c`. */
function nameOf(place: string): string {
  return place.split('node_modules/').at(-1) ?? ''
}

export function lockFileFindings(lock: LockFile): Finding[] {
  const locked = new Set(Object.keys(lock.packages).map(nameOf))
  return Object.entries(lock.packages).flatMap(([place, { resolved, optionalDependencies }]) => {
    const findings: Finding[] = []
    if (resolved !== undefined) {
      const message = `${place} has "resolved"; keep omit-lockfile-registry-resolved=true in .npmrc and make it anew`
      findings.push({ path: PATH, line: 0, message })
    }
    for (const name of Object.keys(optionalDependencies ?? {})) {
      if (locked.has(name)) continue
      const message = `${place} may need ${name}, which has no entry: npm ci refuses that; add it with version, os, cpu`
      findings.push({ path: PATH, line: 0, message })
    }
    return findings
  })
}

/** Production dependencies that no file imports, and homes of packages that are no dependency. */
export function dependencyFindings(
  dependencies: readonly string[],
  homes: readonly string[],
  specifiers: readonly string[],
  peers: readonly string[],
): Finding[] {
  const imported = new Set(specifiers.map(packageOf))
  const unused = dependencies.filter((name) => !imported.has(name) && !peers.includes(name))
  const homeless = dependencies.filter((name) => !homes.includes(name))
  const gone = homes.filter((name) => !dependencies.includes(name))
  return [
    ...unused.map((name) => ({ name, message: 'nothing imports it: remove it' })),
    ...homeless.map((name) => ({ name, message: 'it has no home: give it a row in spec/tidy/import-rules.ts' })),
    ...gone.map((name) => ({ name, message: 'it has a home in spec/tidy/import-rules.ts and is no dependency' })),
  ].map(({ name, message }) => ({ path: 'package.json', line: 0, message: `${name}: ${message}` }))
}
