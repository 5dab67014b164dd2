/** Which operations, routes, changes, workers and error codes worlds have met, and which none meets yet. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHANGES } from '../../../engine/events/changes.ts'
import { EMBED_ROUTES } from '../../../planes/links/embed-content.ts'
import { sharingErrors } from '../../../planes/links/errors.ts'
import { SHARE_ROUTES } from '../../../planes/links/sharing-plane.ts'
import { managementErrors } from '../../../planes/management/errors.ts'
import { operationName } from '../../../planes/management/openapi/operation-names.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import { S3_ERRORS } from '../../../planes/s3/errors/s3-errors.ts'
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'

/** Before the name of what worlds have met, among the counts of a share. */
export const MET = 'met '

type Kind = 'operation' | 'route' | 'link route' | 'change' | 'worker' | 's3 code' | 'management code' | 'link code'

/** The file that names what no world meets yet, or too few to be sure of: it may only become shorter. */
const UNMET_FILE = 'spec/prove/world/unmet.json'

/** The name that one thing has in counts and lists. */
export function thing(kind: Kind, name: string): string {
  return `${kind} ${name}`
}

/** Everything that there is to meet. */
export function everything(): string[] {
  return [
    ...OPERATIONS.map(({ name }) => thing('operation', name)),
    ...routeList.map((route) => thing('route', operationName(route))),
    ...[...SHARE_ROUTES, ...EMBED_ROUTES].map(({ path }) => thing('link route', path)),
    ...Object.values(CHANGES).map(({ name }) => thing('change', name)),
    ...workerNames().map((name) => thing('worker', name)),
    ...Object.keys(S3_ERRORS).map((code) => thing('s3 code', code)),
    ...Object.keys(managementErrors).map((code) => thing('management code', code)),
    ...Object.keys(sharingErrors).map((code) => thing('link code', code)),
  ].toSorted()
}

/** Workers by the names that their classes give them. */
function workerNames(): string[] {
  const files = readdirSync('workers', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return files.flatMap((file) => {
    const text = readFileSync(join('workers', file), 'utf8')
    return text.includes('implements BackgroundWorker')
      ? (/^ {2}readonly name = '([^']+)'$/m.exec(text)?.[1] ?? [])
      : []
  })
}

/** What no world meets yet, as the file says. */
export function knownUnmet(): string[] {
  return JSON.parse(readFileSync(UNMET_FILE, 'utf8')) as string[]
}

/**
 * How what was met differs from what the file says.
 * @returns what is in neither; and what is in both
 */
export function compareCoverage(met: ReadonlySet<string>): {
  readonly missing: readonly string[]
  readonly stale: readonly string[]
} {
  const known = new Set(knownUnmet())
  return {
    missing: everything().filter((one) => !met.has(one) && !known.has(one)),
    stale: [...known].filter((one) => met.has(one)),
  }
}
