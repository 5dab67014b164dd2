import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { featureFindings, PORTS, SPINE_IMPORTS_MAXIMUM, spineImports } from './features.ts'
import { importsOf } from './imports.ts'
import { type Finding, fileOf, findingText, isProduction, projectPaths, readProjectFile } from './project-files.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const sources = projectPaths(root).filter((path) => /\.tsx?$/.test(path))
const imports = sources.flatMap((path) => readProjectFile(root, path) ?? []).flatMap(importsOf)
const importing = (path: string, line: string) => importsOf(fileOf(path, line))

test('features do not know each other, and the spine reaches them by lists', async (t) => {
  const holds = (findings: readonly Finding[]) => t.same(findings.map(findingText), [])
  const finds = (findings: readonly Finding[], place: string, words: string) => {
    t.same(
      findings.map(({ path, line }) => `${path}:${line}`),
      [place],
    )
    t.match(findings[0]?.message, words)
  }
  const among = (from: string, to: string) => featureFindings(importing(from, `import { a } from '${to}'`))
  finds(among('workers/scrub/a.ts', '../webhooks/b.ts'), 'workers/scrub/a.ts:1', 'through a port')
  finds(among('engine/links/a.ts', '../lifecycle/b.ts'), 'engine/links/a.ts:1', 'through a port')
  finds(among('engine/loop/decide.ts', '../scrub/feature.ts'), 'engine/loop/decide.ts:1', 'only features.ts')
  finds(among('cli/links/a.ts', '../../engine/scrub/feature.ts'), 'cli/links/a.ts:1', 'only features.ts')
  holds(among('engine/features.ts', './scrub/feature.ts'))
  holds(among('cli/scrub/a.ts', '../../engine/scrub/rules.ts'))
  holds(among('workers/webhooks/a.ts', '../../projections/events/storage-event.ts'))
  holds(featureFindings(imports))
  const used = new Set(imports.filter(({ from }) => isProduction(from)).map(({ target }) => target))
  for (const path of Object.keys(PORTS)) t.ok(used.has(path), `${path} is used somewhere`)
  t.same(spineImports(importing('engine/a.ts', "import { b } from './scrub/b.ts'")).length, 1)
  t.same(spineImports(importing('engine/features.ts', "import { b } from './scrub/feature.ts'")).length, 0)
  t.ok(spineImports(imports).length <= SPINE_IMPORTS_MAXIMUM, 'a feature is reached by the lists of features')
})
