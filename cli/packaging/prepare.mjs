// What npm runs as `prepare`: after `npm ci` in a checkout, and before `npm pack`. Leaves binaries for other machines out, and
// compiles and bundles. Without the compiler (`npm ci --omit=dev`) it compiles in a temporary directory, with tools that it installs there
// and removes again, unless build/ was made from the same sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const SOURCES = ['engine', 'projections', 'planes', 'workers', 'cli']
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.production.json']
const SCRIPTS = readdirSync('spec').flatMap((name) => (name.endsWith('.mjs') ? [join('spec', name)] : []))
/** The development packages that compiling needs. */
const TOOLS = ['@preact/signals', '@types/node', 'preact', 'rolldown', 'typescript', 'uplot', 'vite']
/** What build/ was last made from. */
const STAMP = 'build/prepared'
const BINARIES = 'node_modules/uWebSockets.js/dist/bin'
/** Binary interfaces of the versions of Node.js that the HTTP library has a binary for and that are supported: 20 and 22. */
const INTERFACES = ['115', '127']

/** Runs a program of Node.js in a directory, which must end with 0. */
function run(directory, ...words) {
  const { status, error } = spawnSync(process.execPath, words, { cwd: directory, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${words[0]} ended with ${status}`)
}

/** The HTTP library comes with binaries for 24 kinds of machine, 133 MiB in all: leaves those that can run here. */
function removeForeignBinaries() {
  if (!existsSync(BINARIES)) return
  const kept = INTERFACES.map((version) => `uws_${process.platform}_${process.arch}_${version}.node`)
  for (const name of readdirSync(BINARIES)) if (!kept.includes(name)) rmSync(join(BINARIES, name))
}

function digestOfSources() {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
    ),
  )
  const hash = createHash('sha256')
  for (const path of [...files.sort(), ...SCRIPTS, ...SETTINGS]) hash.update(`${path}\0`).update(readFileSync(path))
  return hash.digest('hex')
}

function compileIn(directory) {
  run(directory, 'spec/stale-outputs.mjs')
  run(directory, 'node_modules/typescript/bin/tsc', '-b', 'tsconfig.production.json')
  run(directory, 'spec/build-console.mjs')
  run(directory, 'spec/build-program.mjs')
}

/** Compiles a copy of the sources, in which the tools are installed by the lock file. */
function compileElsewhere() {
  const npm = process.env.npm_execpath
  if (npm === undefined) throw new Error('the compiler is not installed, and npm did not start this: npm run prepare')
  process.stdout.write('build/ is missing or out of date: compiling with tools in a temporary directory\n')
  const directory = mkdtempSync(join(tmpdir(), 'object-store-build-'))
  try {
    for (const path of [...SOURCES, ...SCRIPTS, ...SETTINGS, '.npmrc']) {
      cpSync(path, join(directory, path), { recursive: true, filter: (from) => basename(from) !== 'node_modules' })
    }
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
    const { devDependencies } = manifest
    manifest.devDependencies = Object.fromEntries(TOOLS.map((name) => [name, devDependencies[name]]))
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
    run(directory, npm, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error')
    compileIn(directory)
    rmSync('build', { recursive: true, force: true })
    cpSync(join(directory, 'build'), 'build', { recursive: true })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

removeForeignBinaries()
const digest = digestOfSources()
if (TOOLS.every((name) => existsSync(join('node_modules', name)))) compileIn('.')
else if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== digest) compileElsewhere()
run('.', 'spec/name-commit.mjs')
writeFileSync(STAMP, digest)
