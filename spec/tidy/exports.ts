/** What is exported, though nobody imports it: it looks like a promise to others, and a change of it like a risk. */
import type { Import } from './imports.ts'
import type { Finding, ProjectFile } from './project-files.ts'

const EXPORT = /^export (?:abstract |async )?(?:class|const|function\*?|interface|type) (?<name>\w+)/

/** Types that no file imports and the compiler must still name, in the inferred types of what other files export. */
const NAMED_BY_THE_COMPILER: readonly string[] = [
  'engine/events/schema/record.ts RecordKind',
  'engine/events/schema/record.ts Variant',
]

/** Exports of `production` that no import takes by name or as a whole. */
export function unusedExportFindings(production: readonly ProjectFile[], imports: readonly Import[]): Finding[] {
  const imported = imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`))
  const taken = new Set([...imported, ...NAMED_BY_THE_COMPILER])
  return production.flatMap(({ path, lines }) =>
    lines.flatMap((text, index): Finding[] => {
      const name = EXPORT.exec(text)?.groups?.['name']
      if (name === undefined || taken.has(`${path} ${name}`) || taken.has(`${path} *`)) return []
      return [{ path, line: index + 1, message: `only this file uses ${name}; do not export it, or delete it` }]
    }),
  )
}
