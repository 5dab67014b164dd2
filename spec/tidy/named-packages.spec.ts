import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { importsOf } from './imports.ts'
import { namedPackageFindings } from './named-packages.ts'
import { fileOf, findingText, projectPaths, readProjectFile } from './project-files.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

test('packages that the customer named are in use', async (t) => {
  const sources = projectPaths(root).filter((path) => /\.tsx?$/.test(path))
  const imports = sources.flatMap((path) => importsOf(readProjectFile(root, path) ?? fileOf(path, '')))
  t.same(namedPackageFindings(imports).map(findingText), [])
  const others = imports.filter(({ specifier }) => specifier !== 'lmdb')
  const elsewhere = [
    ...importsOf(fileOf('spec/a.ts', "import { open } from 'lmdb'")),
    ...importsOf(fileOf('cli/a.ts', "import type { open } from 'lmdb'")),
  ]
  t.match(namedPackageFindings([...others, ...elsewhere]), [{ path: 'package.json', message: /^lmdb: / }])
})
