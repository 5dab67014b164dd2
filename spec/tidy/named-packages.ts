/** Whether the packages that the customer named are in use. */
import { type Import, packageOf } from './imports.ts'
import { type Finding, isProduction } from './project-files.ts'

/** Each package, and what must import it. */
const NAMED_PACKAGES = {
  '@noble/ed25519': 'production',
  '@noble/hashes': 'production',
  clipanion: 'production',
  'fast-xml-parser': 'production',
  lmdb: 'production',
  msgpackr: 'production',
  pino: 'production',
  'prom-client': 'production',
  tap: 'specs',
  'uWebSockets.js': 'production',
} as const

/** Named packages that are not imported, or for their types alone. */
export function namedPackageFindings(imports: readonly Import[]): Finding[] {
  const used = imports.filter(({ typesOnly }) => !typesOnly)
  return Object.entries(NAMED_PACKAGES).flatMap(([name, by]) => {
    const isBy = (from: string) => (by === 'production' ? isProduction(from) : from.startsWith('spec/'))
    if (used.some(({ from, specifier }) => packageOf(specifier) === name && isBy(from))) return []
    return [{ path: 'package.json', line: 0, message: `${name}: the customer named it, so ${by} must import it` }]
  })
}
