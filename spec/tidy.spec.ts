/** The house rules, held. Each rule is first shown to find a breach, then held against every file of the project. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Test, test } from 'tap'
import { wordFindings } from './tidy/banned-words.ts'
import { circleFindings, folderCircleFindings, KEPT, unreachedFindings } from './tidy/dead-files.ts'
import { indexFindings, namedRecordFindings, recordFindings, sectionFindings } from './tidy/decision-records.ts'
import { openFindings, writeFindings } from './tidy/durable-writes.ts'
import { unusedExportFindings } from './tidy/exports.ts'
import { BUNDLED_PACKAGES, directionFindings, PACKAGE_HOMES, packageFindings } from './tidy/import-rules.ts'
import { importsOf } from './tidy/imports.ts'
import { dependencyFindings, type LockFile, lockFileFindings } from './tidy/lock-file.ts'
import { linkFindings } from './tidy/markdown-links.ts'
import { vagueFindings } from './tidy/plain-comments.ts'
import {
  type Finding,
  fileOf,
  findingText,
  ignoreRule,
  isProduction,
  projectPaths,
  readProjectFile,
} from './tidy/project-files.ts'
import {
  CASE_LINES_MAXIMUM,
  FILE_LINES_MAXIMUM,
  FOLDER_FILES_MAXIMUM,
  FUNCTION_LINES_MAXIMUM,
  fileSizeFindings,
  folderSizeFindings,
  functionSizeFindings,
} from './tidy/sizes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const paths = projectPaths(root)
const files = paths.flatMap((path) => readProjectFile(root, path) ?? [])
const sources = files.filter(({ path }) => /\.tsx?$/.test(path))
const production = sources.filter(({ path }) => isProduction(path))
const imports = sources.flatMap(importsOf)
const readJson = (path: string): unknown => JSON.parse(readFileSync(`${root}/${path}`, 'utf8'))

/** Says `path:line: message` for each breach. */
function holds(t: Test, findings: readonly Finding[]): void {
  t.same(findings.map(findingText), [])
}

/** A breach, made up: where it is found and what stands in its message. */
function finds(t: Test, findings: readonly Finding[], ...expected: readonly [place: string, words: string][]): void {
  t.same(
    findings.map(({ path, line }) => `${path}:${line}`),
    expected.map(([place]) => place),
  )
  for (const [index, [, words]] of expected.entries()) t.match(findings[index]?.message, words)
}

// Files that are made up.
const importing = (path: string, ...lines: readonly string[]) => importsOf(fileOf(path, lines.join('\n')))
const importsFs = (path: string, what: string) => writeFindings(importing(path, `import ${what} from 'node:fs'`))
const fileWith = (count: number) => 'const a = 1\n'.repeat(count)
const functionWith = (count: number) => `function a(b: string): void {\n${'  b()\n'.repeat(count - 2)}}\n`
const decision = (number: string, status: string, ...text: readonly string[]) =>
  fileOf(`spec/decisions/${number}-a.md`, [`# ${number} A`, '', status, '', ...text].join('\n'))
const decisionIndex = (...rows: readonly string[]) => fileOf('spec/decisions/README.md', rows.join('\n'))

test('the rules see the project', async (t) => {
  t.ok(paths.includes('engine/loop/engine.ts'))
  t.ok(paths.includes('.gitignore'))
  t.notOk(paths.some((path) => path.startsWith('build/') || path.includes('node_modules/') || path.startsWith('.git/')))
  t.ok(production.length > 150)
  t.throws(() => ignoreRule('a/b/*.c'))
})

test('imports are read from every form the formatter leaves', async (t) => {
  const found = importing(
    'a/b.ts',
    "import { type C, d as e } from './c.ts'",
    'export interface F {',
    "  readonly from: 'x'",
    '}',
    "import type * as G from 'g'",
    "export type { H } from '@i/j/k.js'",
    'import {',
    '  l,',
    "} from '../l.ts'",
    "const m = await import('./m.ts')",
    "new Worker(new URL('./n.js', import.meta.url))",
  )
  t.same(
    found.map(({ line, specifier, target, typesOnly, names }) => [line, specifier, target, typesOnly, names.join()]),
    [
      [1, './c.ts', 'a/c.ts', false, 'C,d'],
      [5, 'g', undefined, true, '*'],
      [6, '@i/j/k.js', undefined, true, 'H'],
      [7, '../l.ts', 'l.ts', false, 'l'],
      [10, './m.ts', 'a/m.ts', false, '*'],
      [11, './n.ts', 'a/n.ts', false, '*'],
    ],
  )
})

test('imports go in one direction', async (t) => {
  const breaches: readonly [from: string, to: string, instead: string][] = [
    ['engine/journal/a.ts', '../../projections/b.ts', 'engine/state-ports.ts'],
    ['engine/domain/a.ts', '../journal/b.ts', 'pure'],
    ['engine/scrub/rules.ts', '../journal/b.ts', 'pure'],
    ['engine/scrub/rules.ts', '../links/rules.ts', 'pure'],
    ['projections/a.ts', '../planes/b.ts', 'composition root'],
    ['planes/http/a.ts', '../s3/b.ts', 'planes/http/'],
    ['planes/s3/a.ts', '../management/b.ts', 'planes/http/'],
    ['planes/management/a.ts', '../s3/b.ts', 'planes/http/'],
    ['planes/s3/a.ts', '../../workers/b.ts', 'planes/http/'],
    ['workers/a.ts', '../planes/s3/b.ts', 'command on the engine'],
    ['workers/a.ts', '../cli/b.ts', 'command on the engine'],
    ['cli/a.ts', '../spec/support/b.ts', 'spec/'],
    ['spec/a.ts', '../bench/b.ts', 'spec/support/'],
    ['other/a.ts', '../engine/b.ts', 'no row'],
    ['planes/console/client/a.tsx', '../console-assets.ts', 'browser'],
    ['planes/console/client/a.tsx', '../../../engine/clock.ts', 'browser'],
    ['planes/console/a.ts', './client/main.tsx', 'bundle'],
  ]
  for (const [from, to, instead] of breaches) {
    finds(t, directionFindings(importing(from, `import { b } from '${to}'`)), [`${from}:1`, instead])
  }
  holds(t, directionFindings(imports))
})

test('every package has its home', async (t) => {
  const breaches: readonly [from: string, line: string][] = [
    ['projections/tables/a.ts', "import { open } from 'lmdb'"],
    ['planes/http/a.ts', "import * as uWS from 'uWebSockets.js'"],
    ['planes/s3/a.ts', "import type * as uWS from 'uWebSockets.js'"],
    ['engine/a.ts', "import { sha256 } from '@noble/hashes/sha2.js'"],
    ['engine/a.ts', "import { a } from 'left-pad'"],
    ['engine/domain/a.ts', "import { readFileSync } from 'node:fs'"],
    ['engine/scrub/rules.ts', "import { readFileSync } from 'node:fs'"],
    ['planes/console/client/a.tsx', "import { createHash } from 'node:crypto'"],
    ['planes/console/a.ts', "import { render } from 'preact'"],
  ]
  for (const [from, line] of breaches) finds(t, packageFindings(importing(from, line)), [`${from}:1`, 'imports'])
  holds(t, packageFindings(imports))
  type Packages = Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>
  const { dependencies, devDependencies } = readJson('package.json') as Packages
  for (const name of BUNDLED_PACKAGES)
    t.ok(name in devDependencies, `${name} is in the bundle, and not installed for users`)
  const specifiers = production.flatMap(importsOf).map(({ specifier }) => specifier)
  const homes = Object.keys(PACKAGE_HOMES)
  holds(t, dependencyFindings(Object.keys(dependencies), homes, specifiers, ['typanion']))
  const broken = dependencyFindings(['a', 'b'], ['b', 'c'], ['b/c.js'], [])
  t.same(
    broken.map(({ message }) => message.slice(0, 2)),
    ['a:', 'a:', 'c:'],
  )
})

test('no file is dead, no imports go in a circle', async (t) => {
  const chain = [
    ...importing('cli/a.ts', "import { b } from './b.ts'"),
    ...importing('cli/b.ts', "new Worker(new URL('./c.js', import.meta.url))"),
  ]
  const all = ['cli/a.ts', 'cli/b.ts', 'cli/c.ts', 'cli/d.ts']
  finds(t, unreachedFindings(all, ['cli/a.ts'], chain), ['cli/d.ts:0', 'nothing leads here'])
  const circle = [...chain, ...importing('cli/c.ts', "import { a } from './a.ts'")]
  finds(t, circleFindings(circle), ['cli/a.ts:0', 'cli/a.ts -> cli/b.ts -> cli/c.ts -> cli/a.ts'])
  const types = (path: string, of: string) => importing(path, `import type { A } from '${of}'`)
  finds(t, circleFindings([...types('cli/a.ts', './b.ts'), ...types('cli/b.ts', './a.ts')]), ['cli/a.ts:0', 'circle'])
  holds(t, circleFindings([...chain, ...types('cli/c.ts', './b.ts')]))
  holds(
    t,
    unreachedFindings(
      production.map(({ path }) => path),
      ['cli/main.ts', 'planes/console/client/main.tsx', 'planes/console/client/verify/main.tsx'],
      imports,
    ),
  )
  holds(t, circleFindings(imports.filter(({ from }) => isProduction(from))))
  const back = importing('planes/s3/text/a.ts', "import type { A } from '../cors/b.ts'")
  const there = importing('planes/s3/cors/c.ts', "import { d } from '../text/d.ts'")
  finds(t, folderCircleFindings([...back, ...there]), ['planes/s3/text:0', 'planes/s3/cors'])
  holds(t, folderCircleFindings(imports))
  for (const path of Object.keys(KEPT))
    t.ok(
      imports.some((each) => each.target === path),
      `${path} is used somewhere`,
    )
})

test('durable writes go through engine/disk', async (t) => {
  finds(
    t,
    importsFs('projections/a.ts', '{ readFileSync, renameSync, writeFileSync }'),
    ['projections/a.ts:1', 'renameSync'],
    ['projections/a.ts:1', 'writeFileSync'],
  )
  finds(t, importsFs('cli/a.ts', '* as fs'), ['cli/a.ts:1', 'through a Disk'])
  holds(t, importsFs('engine/disk/a.ts', '* as fs'))
  holds(t, importsFs('spec/a.ts', '{ writeFileSync }'))
  finds(t, openFindings(fileOf('cli/a.ts', "const a = openSync(path, 'r+')")), ['cli/a.ts:1', 'through a Disk'])
  holds(t, openFindings(fileOf('cli/a.ts', "const a = openSync(path, 'r')")))
  holds(t, writeFindings(imports))
  holds(t, sources.flatMap(openFindings))
})

test('banned words', async (t) => {
  const breaches: readonly [path: string, text: string][] = [
    ['README.md', `${'TO'}${'DO'}: write it`],
    ['engine/a.ts', `throw new Error('not implemented ${'yet'}')`],
    ['spec/a.ts', `// @ts-${'ignore'}`],
    ['cli/a.ts', `const a = b as ${'any'}`],
    ['planes/a.ts', `show(b as ${'never'})`],
    ['spec/a.spec.ts', `test.${'skip'}('later', async () => {})`],
    ['spec/a.spec.ts', `test('later', { ${'todo'}: true }, async () => {})`],
    ['engine/a.ts', `const home = process.${'env'}['HOME']`],
    ['cli/b.ts', `const words = process.${'argv'}`],
    ['planes/s3/a.ts', `const now = Date.${'now'}()`],
    ['workers/a.ts', `const die = Math.${'random'}()`],
    ['.ci/run', `curl https://registry.${'npmjs'}.org/`],
    ['README.md', `open /${'home'}/me/store`],
    ['CHANGELOG.md', `mends ${'issue'} #7`],
  ]
  for (const [path, text] of breaches) finds(t, wordFindings(fileOf(path, `\n${text}\n`)), [`${path}:2`, ': '])
  holds(t, wordFindings(fileOf('cli/environment.ts', `const all = { ...process.${'env'} }`)))
  holds(t, wordFindings(fileOf('engine/a.ts', ` * Why process.${'env'} is read elsewhere.`)))
  holds(t, files.flatMap(wordFindings))
})

test('comments say the noun', async (t) => {
  const lines = [
    '/** What it has those',
    ' * of, and that of another. */',
    '// Nobody was told.',
    'const a = b // It begins.',
    "const nobody = 'somebody'",
  ]
  finds(
    t,
    vagueFindings(fileOf('engine/a.ts', lines.join('\n'))),
    ['engine/a.ts:1', '"those of"'],
    ['engine/a.ts:2', '"that of"'],
    ['engine/a.ts:3', '"Nobody"'],
    ['engine/a.ts:3', '"told"'],
    ['engine/a.ts:4', '"begins"'],
  )
  holds(t, vagueFindings(fileOf('spec/a.ts', '// Nobody.')))
  holds(t, sources.flatMap(vagueFindings))
})

test('what is exported is imported somewhere', async (t) => {
  const exporting = fileOf(
    'cli/a.ts',
    'export const a = 1\nexport async function b() {}\nexport interface C {}\nconst d = 1',
  )
  const byName = importing('spec/b.spec.ts', "import { a, type C as D } from '../cli/a.ts'")
  finds(t, unusedExportFindings([exporting], byName), ['cli/a.ts:2', 'only this file uses b'])
  holds(t, unusedExportFindings([exporting], importing('cli/b.ts', "import * as all from './a.ts'")))
  holds(t, unusedExportFindings(production, imports))
})

test('files, functions and folders stay small', async (t) => {
  finds(t, fileSizeFindings(fileOf('engine/a.ts', fileWith(FILE_LINES_MAXIMUM + 1))), ['engine/a.ts:0', 'lines'])
  holds(t, fileSizeFindings(fileOf('engine/a.ts', fileWith(FILE_LINES_MAXIMUM))))
  const grown = functionSizeFindings(fileOf('engine/a.ts', functionWith(FUNCTION_LINES_MAXIMUM + 1)))
  finds(t, grown, ['engine/a.ts:1', 'a function of 71 lines'])
  holds(t, functionSizeFindings(fileOf('engine/a.ts', functionWith(FUNCTION_LINES_MAXIMUM))))
  holds(t, functionSizeFindings(fileOf('spec/a.ts', functionWith(CASE_LINES_MAXIMUM))))
  holds(t, [...sources.flatMap(fileSizeFindings), ...sources.flatMap(functionSizeFindings)])
  const folder = Array.from({ length: FOLDER_FILES_MAXIMUM + 1 }, (_, index) => fileOf(`engine/a/${index}.ts`, ''))
  finds(t, folderSizeFindings(folder), ['engine/a:0', '23 files'])
  holds(t, folderSizeFindings([...folder.slice(1), fileOf('engine/b.ts', '')]))
  holds(t, folderSizeFindings(production))
})

test('the top level is closed', async (t) => {
  const folders = ['.ci', 'bench', 'cli', 'engine', 'planes', 'projections', 'spec', 'workers']
  const tools = ['.gitignore', '.npmrc', '.oxlintrc.json', '.taprc', 'biome.json', 'package-lock.json']
  const compiler = ['tsconfig.json', 'tsconfig.production.json', 'tsconfig.specs.json']
  const known = [...folders, ...tools, ...compiler, 'CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
  const names = new Set(paths.map((path) => path.split('/')[0] ?? ''))
  t.same(
    [...names].filter((name) => !known.includes(name)),
    [],
    'it belongs into one of the folders that are there',
  )
})

test('links lead somewhere', async (t) => {
  const page = fileOf('spec/a.md', '# One thing\n[a](#one-thing) [b](b.md#two) [c](../gone.md) [d](https://d.example)')
  const other = fileOf('spec/b.md', '# Three')
  finds(
    t,
    linkFindings([page, other], ['spec/a.md', 'spec/b.md']),
    ['spec/a.md:2', 'heading "two"'],
    ['spec/a.md:2', 'gone.md, which is not there'],
  )
  const pages = files.filter(({ path }) => path.endsWith('.md'))
  t.ok(pages.length > 3)
  holds(t, linkFindings(pages, paths))
})

test('a decision says whether it still holds', async (t) => {
  const first = decision('0001', 'Status: superseded by [0002](0002-a.md)')
  const second = decision(
    '0002',
    'Status: accepted; a part of it superseded by [0003](0003-a.md)',
    'This replaces 0001.',
  )
  holds(t, recordFindings([first, second]))
  finds(t, recordFindings([decision('0004', '## Context')]), ['spec/decisions/0004-a.md:3', 'Status: accepted'])
  finds(t, recordFindings([decision('0004', 'Status: accepted since 0003')]), [
    'spec/decisions/0004-a.md:3',
    'needs one of',
  ])
  finds(t, recordFindings([fileOf('spec/decisions/0004-a.md', '# A\n\nStatus: accepted')]), [
    'spec/decisions/0004-a.md:1',
    '# 0004 Title',
  ])
  const unmarked = [decision('0001', 'Status: accepted'), second]
  finds(t, recordFindings(unmarked), ['spec/decisions/0002-a.md:5', 'changes 0001'])
  const [one, two] = ['- [0001 A](0001-a.md)', '- [0002 A](0002-a.md): a part of it superseded by [0003](0003-a.md)']
  holds(t, indexFindings(decisionIndex(`${one}: superseded by [0002](0002-a.md)`, two), [first, second]))
  finds(
    t,
    indexFindings(decisionIndex(one, two, two), [first, second]),
    ['spec/decisions/README.md:1', 'superseded by'],
    ['spec/decisions/README.md:0', '2 times'],
  )
  const comment = fileOf('engine/a.ts', '/** See decisions 0002 and 0007 (spec/decisions/0001). */')
  finds(t, namedRecordFindings([comment], [first, second]), ['engine/a.ts:1', 'decision 0007'])
  const merged = decision('0001', 'Status: accepted', '## B (0001)', '## C (0005)')
  finds(t, sectionFindings([merged, decision('0002', 'Status: accepted', '## D (0005)')]), [
    'spec/decisions/0002-a.md:5',
    '0005 is in spec/decisions/0001-a.md already',
  ])
  const records = files.filter(({ path }) => /^spec\/decisions\/\d{4}-/.test(path))
  t.ok(records.length > 50)
  holds(t, recordFindings(records))
  holds(t, sectionFindings(records))
  const others = files.filter(({ path }) => path !== 'spec/tidy.spec.ts')
  holds(t, namedRecordFindings(others, records))
  const indexes = files.filter(({ path }) => path === 'spec/decisions/README.md')
  t.equal(indexes.length, 1)
  for (const each of indexes) holds(t, indexFindings(each, records))
})

test('a clean clone installs from any registry', async (t) => {
  const lock: LockFile = {
    packages: { '': {}, 'node_modules/a': { resolved: 'x', optionalDependencies: { b: '1.0.0' } } },
  }
  finds(t, lockFileFindings(lock), ['package-lock.json:0', 'resolved'], ['package-lock.json:0', 'npm ci refuses'])
  holds(t, lockFileFindings(readJson('package-lock.json') as LockFile))
})
