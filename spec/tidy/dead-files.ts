/** Files that nothing leads to, and files that lead in a circle. */
import { dirname } from 'node:path'
import type { Import } from './imports.ts'
import type { Finding } from './project-files.ts'

/** Files of production that production does not need, each with its reason. */
export const KEPT: Readonly<Record<string, string>> = {
  'spec/support/signing.ts': 'the other half of the signature check, which specs and benches sign their requests with',
}

/** Targets of each file's imports. */
function graphOf(imports: readonly Import[]): Map<string, string[]> {
  const graph = new Map<string, string[]>()
  for (const { from, target } of imports) {
    if (target === undefined) continue
    const targets = graph.get(from)
    if (targets === undefined) graph.set(from, [target])
    else targets.push(target)
  }
  return graph
}

/** Of a package that has none: the compiler looks for it, and no import names it. */
function isDeclaration(path: string): boolean {
  return path.endsWith('.d.ts')
}

/** Files of `paths` that no chain of imports from `entries` reaches. Worker threads are imports here. */
export function unreachedFindings(
  paths: readonly string[],
  entries: readonly string[],
  imports: readonly Import[],
): Finding[] {
  const graph = graphOf(imports)
  const reached = new Set(entries)
  for (const path of reached) for (const target of graph.get(path) ?? []) reached.add(target)
  const message = `nothing leads here from ${entries.join(' or ')}; delete it, or move it to where it is used`
  return paths
    .filter((path) => !reached.has(path) && !(path in KEPT) && !isDeclaration(path))
    .map((path) => ({ path, line: 0, message }))
}

/**
 * Circles of imports, of types too, since no file of a circle can be read before the others; and circles at run time, where
 * a thread counts as an import. The types of the messages between a thread and its starter may be in either.
 */
export function circleFindings(imports: readonly Import[]): Finding[] {
  const found = [
    ...circlesIn(graphOf(imports.filter(({ isWorker }) => !isWorker))),
    ...circlesIn(graphOf(imports.filter(({ typesOnly }) => !typesOnly))),
  ]
  return found.filter(({ message }, index) => found.findIndex((other) => other.message === message) === index)
}

/** Where folders lie on floors: of two folders at most one imports the other, however far apart. */
const FLOORS = /^planes\/s3\//

/** The same for folders, where they lie on floors. */
export function folderCircleFindings(imports: readonly Import[]): Finding[] {
  const between = imports.flatMap((each) => {
    const { from, target } = each
    if (target === undefined || !FLOORS.test(from) || !FLOORS.test(target) || dirname(from) === dirname(target))
      return []
    return [{ ...each, from: dirname(from), target: dirname(target) }]
  })
  return circleFindings(between)
}

function circlesIn(graph: ReadonlyMap<string, readonly string[]>): Finding[] {
  const findings: Finding[] = []
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path)
    if (start !== -1) {
      const circle = [...way.slice(start), path].join(' -> ')
      findings.push({ path, line: 0, message: `imports in a circle: ${circle}; move what both need to a third file` })
      return
    }
    if (done.has(path)) return
    for (const target of graph.get(path) ?? []) visit(target, [...way, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return findings
}
