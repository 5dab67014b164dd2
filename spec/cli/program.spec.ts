/** What is shipped and run are the bundles of `spec/build-program.mjs`, and few of them are loaded at a start. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { buildCommit, packageVersion } from '../../cli/version.ts'
import { ApiClient, basic } from '../support/api-client.ts'
import { LOADED_MAXIMUM, loadedFiles } from '../support/loaded-files.ts'
import { startProcess } from '../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { spawned } from './command-runner.ts'

const PROGRAM = 'build/program'
const MEBIBYTE = 1024 ** 2

const bundles = readdirSync(PROGRAM).filter((name) => name.endsWith('.js'))
const textOf = (name: string) => readFileSync(join(PROGRAM, name), 'utf8')

function importsOf(name: string): string[] {
  return [...textOf(name).matchAll(/^import .*"\.\/(.*)";$/gm)].map(([, path = '']) => path)
}

test('a start loads few files, and of the modules one by one none', async (t) => {
  const files = await loadedFiles(resolve('cli/object-store.mjs'))
  const own = files.filter((path) => !path.includes('node_modules')).map((path) => path.slice(resolve('.').length + 1))
  for (const name of ['main', 'start-server', 'engine-thread', 'front-end-thread']) {
    t.ok(own.includes(`${PROGRAM}/${name}.js`), name)
  }
  t.same(
    own.filter((path) => !path.startsWith(`${PROGRAM}/`)),
    ['cli/object-store.mjs'],
  )
  t.ok(files.length <= LOADED_MAXIMUM, `${files.length} files:\n${files.join('\n')}`)
})

test('what hashes large uploads, replays, and verifies runs in threads of the bundles', async (t) => {
  const dataDirectory = t.testdir()
  const body = Buffer.alloc(8 * MEBIBYTE, 'a')
  const server = await startProcess({ dataDirectory })
  t.equal((await server.raw('PUT', '/threads')).status, 200)
  t.equal((await server.raw('PUT', '/threads/large', { body })).status, 200)
  // A replay reads ahead and writes in threads of their own from 8 MiB on.
  const headers = [['x-amz-meta-filler', 'a'.repeat(2000)]] as const
  const journal = join(dataDirectory, 'journal')
  const bytes = () => readdirSync(journal).reduce((sum, name) => sum + statSync(join(journal, name)).size, 0)
  for (let turn = 0; bytes() < 12 * MEBIBYTE; turn += 1) {
    const keys = Array.from({ length: 50 }, (_, index) => `/threads/${turn}-${index}`)
    await Promise.all(keys.map((key) => server.raw('PUT', key, { headers })))
  }
  t.equal(await server.terminate(), 0)
  await server.stop()
  rmSync(join(dataDirectory, 'projections'), { recursive: true })
  const again = await startProcess({ dataDirectory })
  t.ok((await again.raw('GET', '/threads/large')).body.equals(body))
  t.equal(await again.terminate(), 0)
  await again.stop()
  t.match(await spawned(['journal', 'verify', '--data-dir', dataDirectory]), { exitCode: 0, stderr: '' })
})

test('the package ships of build/ what is loaded and read', async (t) => {
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] }
  t.same(
    files.filter((path) => path.startsWith('build/')),
    [`${PROGRAM}/*.js`, `${PROGRAM}/*.js.map`, `${PROGRAM}/commit.json`, 'build/console/', 'build/console-page/'],
  )
})

test('threads and pages are where the bundles look for them', async (t) => {
  const paths = bundles.flatMap((name) =>
    [...textOf(name).matchAll(/new URL\(["']([^"']+)["'], import\.meta\.url\)/g)].map(([, path = '']) => path),
  )
  t.match(paths.toSorted().join(' '), /package\.json .*console\/ .*hash-thread\.js.*verifying-worker\.js/)
  for (const path of paths) t.ok(existsSync(join(PROGRAM, path)), path)
})

test('no bundle leads back to itself by its imports', async (t) => {
  t.ok(importsOf('main.js').includes('program.js'))
  for (const name of bundles) {
    const reached = new Set(importsOf(name))
    for (const each of reached) for (const next of importsOf(each)) reached.add(next)
    t.notOk(reached.has(name), name)
  }
})

test('a place in a bundle is found in the source by its map', async (t) => {
  const line = /^.*function packageVersion\(/m
  const name = bundles.find((each) => line.test(textOf(each))) ?? ''
  const text = textOf(name)
  t.match(text, `//# sourceMappingURL=${name}.map`)
  const map = new SourceMap(JSON.parse(readFileSync(join(PROGRAM, `${name}.map`), 'utf8')) as SourceMapPayload)
  const before = text.slice(0, text.search(line)).split('\n').length - 1
  const entry = map.findEntry(before, 0)
  if (!('originalSource' in entry)) throw new Error('the map has no such place')
  t.equal(resolve(PROGRAM, entry.originalSource), resolve('cli/version.ts'))
  t.match(readFileSync('cli/version.ts', 'utf8').split('\n')[entry.originalLine], 'function packageVersion(')
})

test('a build names its commit, and says when it has none', (t) => {
  const script = resolve('spec/name-commit.mjs')
  const [own, inside] = [t.testdir({ file: '1' }), 'unpacked']
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: own })
  const named = (folder: string) => {
    execFileSync(process.execPath, [script], { cwd: folder })
    return (JSON.parse(readFileSync(join(folder, 'build/program/commit.json'), 'utf8')) as { commit: unknown }).commit
  }
  t.equal(named(own), null, 'the folder of a spec is none of the commits around it')
  git('init', '--quiet')
  t.equal(named(own), null, 'nothing is committed yet')
  git('add', 'file')
  git('commit', '--quiet', '--message', 'one')
  const name = git('rev-parse', 'HEAD').toString().slice(0, 12)
  t.equal(named(own), name)
  writeFileSync(join(own, 'file'), '2')
  t.equal(named(own), `${name.slice(0, -1)}+`, 'a file differs from it')
  mkdirSync(join(own, inside))
  t.equal(named(join(own, inside)), null, 'sources that are unpacked in a checkout are none of its commits')
  t.end()
})

test('log, system info and metrics name version and commit', async (t) => {
  const server = await startProcess({ dataDirectory: t.testdir() })
  t.teardown(() => server.kill9())
  const [version, commit] = [packageVersion(), buildCommit()]
  const starting = { msg: 'starting', version, commit: commit ?? 'built without git', node: process.version }
  t.match(JSON.parse(server.log[0] ?? '{}'), starting, 'the first line of the log')
  const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
  t.match(await api.get('GET', '/system/info'), { version, commit: commit ?? null })
  const headers = { authorization: `Bearer ${server.scrapeToken}` }
  const metrics = await (await fetch(`${server.apiEndpoint}/metrics`, { headers })).text()
  const labels = `{version="${version}",commit="${commit ?? 'unknown'}",node="${process.version}"}`
  t.ok(metrics.includes(`object_store_build_info${labels} 1`))
})
