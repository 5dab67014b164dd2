/** `npm ci --omit=dev` in a checkout, and a package by `npm pack`, are working servers of a bounded size. Needs npm's registry. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { LOADED_MAXIMUM, loadedFiles } from '../support/loaded-files.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { copyCheckout, mebibytesOf, npm, runs, storesAnObject } from './installed.ts'

const MEBIBYTES_MAXIMUM = 120
const BINARIES = 'node_modules/uWebSockets.js/dist/bin'
const PROGRAM = 'cli/object-store.mjs'

const place = temporaryDirectory()
const checkout = join(place, 'checkout')
const packed = join(checkout, 'object-store-object-store-1.0.0.tgz')
mkdirSync(checkout)
copyCheckout(checkout)
tap.teardown(() => rmSync(place, { recursive: true }))

test('npm ci --omit=dev compiles, and leaves the compiler and foreign binaries out', async (t) => {
  const output = await npm(checkout, 'ci', '--omit=dev')
  t.match(output, 'compiling with tools in a temporary directory')
  t.notOk(existsSync(join(checkout, 'node_modules/typescript')))
  const binaries = readdirSync(join(checkout, BINARIES))
  t.ok(binaries.length > 0)
  for (const name of binaries) t.match(name, new RegExp(`^uws_${process.platform}_${process.arch}_`))
  const mebibytes = mebibytesOf(checkout)
  t.comment(`the checkout, installed: ${Math.round(mebibytes)} MiB`)
  t.ok(mebibytes < MEBIBYTES_MAXIMUM, `${mebibytes} MiB`)
  await storesAnObject(t, join(checkout, PROGRAM))
})

test('a second one compiles only what has changed', async (t) => {
  const built = join(checkout, 'build/program/main.js')
  const before = statSync(built).mtimeMs
  t.notMatch(await npm(checkout, 'ci', '--omit=dev'), 'compiling')
  t.equal(statSync(built).mtimeMs, before, 'build/ was kept')
  writeFileSync(join(checkout, 'cli/main.ts'), '\n// changed\n', { flag: 'a' })
  t.match(await npm(checkout, 'ci', '--omit=dev'), 'compiling')
  t.not(statSync(built).mtimeMs, before, 'build/ was made again')
})

test('npm pack makes a package that installs without a network', async (t) => {
  await npm(checkout, 'pack')
  const files = (await runs(checkout, 'tar', '--list', '--gzip', '--file', packed)).split('\n')
  for (const name of [
    'build/program/main.js',
    PROGRAM,
    'build/console/index.html',
    'spec/manual/operating.md',
    'LICENSE',
  ]) {
    t.ok(files.includes(`package/${name}`), name)
  }
  t.same(
    files.filter(
      (name) => !name.includes('/node_modules/') && /\.tsx?$|\/build\/(?!(program|console|console-page)\/)/.test(name),
    ),
    [],
    'neither sources nor specs, nor what the bundles are made of',
  )
  const target = join(place, 'installed')
  mkdirSync(target)
  // A cache of its own, which is empty: everything has to be in the package.
  await npm(target, 'install', '--offline', '--cache', join(place, 'cache'), packed)
  const installed = join(target, 'node_modules/@object-store/object-store')
  const mebibytes = mebibytesOf(target)
  t.comment(`the package, installed: ${Math.round(mebibytes)} MiB; packed: ${statSync(packed).size} bytes`)
  t.ok(mebibytes < MEBIBYTES_MAXIMUM, `${mebibytes} MiB`)
  const named = /^1\.0\.0 \((?:commit [0-9a-f]{11}[0-9a-f+]|built without git)\)\n$/
  t.match(await runs(target, join(target, 'node_modules/.bin/object-store'), 'version'), named)
  await storesAnObject(t, join(installed, PROGRAM))
  const loaded = await loadedFiles(join(installed, PROGRAM))
  t.ok(loaded.length <= LOADED_MAXIMUM, `${loaded.length} files:\n${loaded.join('\n')}`)
})
