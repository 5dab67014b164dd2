// Bundles production into build/program/, which is what is shipped and run: a file for the command line, one for each kind of
// thread, and a few of what they share, with their source maps. Specs import the modules of build/ one by one.
// Does nothing when nothing has changed since the last time.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'

const FOLDERS = ['engine', 'projections', 'planes', 'workers', 'cli']
const SETTINGS = ['spec/build-program.mjs', 'package-lock.json']
const PROGRAM = 'build/program'
const STAMP = 'build/program/stamp'
/** What is loaded by itself: threads, and what waits until it is asked for. Each with what it is when it shares modules. */
const ENTRIES = {
  'cli/main.ts': 'main',
  'cli/commands/command-list.ts': 'main',
  'cli/commands/quickstart.ts': 'main',
  'cli/commands/server.ts': 'main',
  'cli/server/start-server.ts': 'main',
  'cli/server/threads/engine-thread.ts': 'writer',
  'cli/server/threads/front-end-thread.ts': 'front',
  'engine/hashing/hash-thread.ts': 'hashing',
  'engine/verify/threads/verifying-worker.ts': 'reader',
  'planes/http/node/node-server.ts': 'listener',
  'planes/http/uws/uws-apps.ts': 'uws',
  'planes/http/uws/uws-server.ts': 'uws',
  'planes/s3/documents/document-thread.ts': 'front',
  'projections/checkpoints/tree-thread.ts': 'reader',
  'projections/record-index/index-thread.ts': 'reader',
  'projections/replay/replay-thread.ts': 'reader',
  'projections/replay/writing-thread.ts': 'writer',
  'projections/snapshots/snapshot-thread.ts': 'writer',
}
/** Packages with native parts, which these find beside their own files. */
const NATIVE = ['@node-rs/crc32', 'koffi', 'uWebSockets.js']
/** The same, loaded by `require`: so it is one file that its maker bundled, in place of 16. */
const NATIVE_AS_ONE_FILE = ['lmdb']
/** Of the names of modules that are made up here. */
const PREFIX = '\0as-one-file:'
/** How a module names a file beside it. */
const BESIDE = /new URL\('([^']+)', import\.meta\.url\)/g

/** Paths of the files of production, without the client of the console, which is not part of the program. */
function sources() {
  const entries = FOLDERS.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name))
  return paths.filter((path) => path.endsWith('.ts') && !path.startsWith('planes/console/client/')).sort()
}

function digestOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path).update('\0').update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

const urlOf = (path) => `new URL('${path}', import.meta.url)`

/** A thread becomes a bundle by its own name, and the paths to other files beside a module lead there from the bundles. */
const besideModules = {
  name: 'beside-modules',
  transform: {
    filter: { id: /\.ts$/, code: 'import.meta' },
    handler(code, id) {
      const folder = dirname(relative('.', id))
      if (code.replaceAll(BESIDE, '').includes('import.meta')) this.error(`only ${BESIDE.source} can be bundled`)
      const moved = code.replaceAll(BESIDE, (_, path) => {
        const slash = path.endsWith('/') ? '/' : ''
        if (!path.endsWith('.js')) return urlOf(relative(PROGRAM, join('build', folder, path)) + slash)
        this.emitFile({ type: 'chunk', id: resolve(folder, path.replace(/\.js$/, '.ts')), fileName: basename(path) })
        return urlOf(`./${basename(path)}`)
      })
      // No line moves, so the map that is there holds.
      return { code: moved, map: null }
    },
  },
}

const asOneFile = {
  name: 'as-one-file',
  resolveId: {
    filter: { id: new RegExp(`^(${NATIVE_AS_ONE_FILE.join('|')})$`) },
    handler: (id, from) => (from === PREFIX + id ? { id, external: true } : PREFIX + id),
  },
  load: {
    filter: { id: new RegExp(`^${PREFIX}`) },
    handler: (id) => `module.exports = require('${id.slice(PREFIX.length)}')`,
  },
}

/** From a module to the entries that load it. */
const entriesOf = new Map()

const whoLoads = {
  name: 'who-loads',
  buildEnd() {
    for (const entry of this.getModuleIds()) {
      const { isEntry, dynamicImporters } = this.getModuleInfo(entry)
      const path = relative('.', entry)
      if (!path.endsWith('.ts') || (!isEntry && dynamicImporters.length === 0)) continue
      if (!(path in ENTRIES))
        this.error(`${path} is loaded by itself: it needs a row of ENTRIES in spec/build-program.mjs`)
      const loaded = new Set([entry])
      for (const id of loaded) {
        for (const next of this.getModuleInfo(id)?.importedIds ?? []) loaded.add(next)
        entriesOf.set(id, [...(entriesOf.get(id) ?? []), path])
      }
    }
    const gone = Object.keys(ENTRIES).find((path) => !entriesOf.get(resolve(path))?.includes(path))
    if (gone !== undefined) this.error(`nothing loads ${gone} by itself: take its row out of spec/build-program.mjs`)
  },
}

/**
 * Name of the bundle of what several entries load. What such a module imports is loaded by the same entries, and maybe by
 * more, so no two bundles import each other. uWebSockets.js has none: it is not to be loaded before it is asked for.
 */
function sharedBundle(id) {
  const entries = entriesOf.get(id) ?? []
  const kinds = new Set(entries.map((path) => ENTRIES[path]))
  if (entries.length < 2 || (kinds.size === 1 && kinds.has('uws'))) return undefined
  if (kinds.has('hashing')) return 'base'
  if (kinds.has('reader')) return 'journal'
  const ofListeners = kinds.has('listener') || kinds.has('uws')
  if (kinds.has('writer')) return kinds.has('front') || ofListeners ? 'store' : 'engine'
  if (kinds.has('front') || (ofListeners && kinds.has('main'))) return 'planes'
  return ofListeners ? 'listener' : 'program'
}

async function bundles() {
  const plugins = [besideModules, asOneFile, whoLoads]
  const build = await rolldown({
    input: 'cli/main.ts',
    platform: 'node',
    external: NATIVE,
    plugins,
    preserveEntrySignatures: 'allow-extension',
  })
  const group = { name: sharedBundle, debugName: 'shared', includeDependenciesRecursively: false }
  const { output } = await build.generate({
    dir: PROGRAM,
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [group] },
  })
  await build.close()
  return output
}

/** Writes the bundles, and removes bundles that are not made any more. */
function write(output) {
  mkdirSync(PROGRAM, { recursive: true })
  const names = output.map(({ fileName }) => fileName)
  for (const name of readdirSync(PROGRAM)) if (!names.includes(name)) rmSync(join(PROGRAM, name))
  for (const { fileName, code, source } of output) writeFileSync(join(PROGRAM, fileName), code ?? source)
}

const stamp = digestOf([...sources(), ...SETTINGS])
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== stamp) {
  write(await bundles())
  writeFileSync(STAMP, stamp)
}
