/**
 * Runs spec files: several of a folder in a process, one after the other, what is quick in two processes for all, and of some
 * suites each in a process of its own. `tap run` by itself also can, but loads a recorder of everything that is loaded into
 * each of them, and into each command that they start: that took half of the time, and nobody reads it. Arguments: folders of build/spec, or single specs such as `planes/http`, or `quick` for what starts
 * nothing; without any, all but the suites. How many run at once, and how long each may take, comes from `tap run`.
 * `SPEC_NODE` names another binary of Node to run them, `SPEC_TIMES` a file for what each costs (see run-group.ts).
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tap from 'tap'
import { groupsOf, setsRootTest, sourceOf } from './group-specs.ts'
import { QuickSpecs } from './quick-specs.ts'

const FOLDER = 'build/spec'
/** Folders that have a script of their own in package.json. */
const SUITES = ['answers', 'clients', 'console', 'crash', 'model', 'packaging', 'prove']
/** Of these, folders each of whose specs has a process of its own. */
const ALONE = ['answers', 'clients', 'crash', 'model', 'packaging']
/** And what tries disks themselves. */
const ON_DISK = ['crash', 'model', 'packaging']
/** The word for what starts nothing, of what runs without arguments. */
const QUICK = 'quick'
/** As many as run side by side without waiting for a processor. */
const QUICK_PROCESSES = 2
/** What waits long goes first, so that none of it runs alone at the end. */
const FIRST = [
  'answers/answers.spec.js',
  'prove/attack/chunks/broken-builds.spec.js',
  'console/screens.spec.js',
  'planes/http-slow-clients.spec.js',
  'planes/management/bodies.spec.js',
  'cli/stores-that-witness.spec.js',
  'cli/readiness.spec.js',
  'cli/lock-server.spec.js',
]

function isIn(folders: readonly string[], name: string): boolean {
  return folders.some((folder) => name.startsWith(`${folder}/`) || name === `${folder}.spec.js`)
}

function specsOf(folders: readonly string[]): string[] {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.js'))
  const gone = FIRST.filter((name) => !names.includes(name))
  if (gone.length > 0) throw new Error(`spec/run-specs.ts names specs that are not there: ${gone.join(', ')}`)
  const everything = folders.length === 0 || folders.includes(QUICK)
  const wanted = names.filter((name) => (everything ? !isIn(SUITES, name) : isIn(folders, name))).toSorted()
  if (wanted.length === 0) throw new Error(`no specs in ${folders.join(', ')}`)
  return [...FIRST.filter((name) => wanted.includes(name)), ...wanted.filter((name) => !FIRST.includes(name))]
}

/** What `tap run` was told, by its command line or .taprc. */
function settingOf(name: 'TAP_JOBS' | 'TAP_TIMEOUT'): number {
  const value = Number(process.env[name])
  if (!(value > 0)) throw new Error(`run this by "tap run": ${name} is not set`)
  return value
}

const node = process.env['SPEC_NODE'] ?? process.execPath
const timeout = settingOf('TAP_TIMEOUT') * 1000
tap.jobs = settingOf('TAP_JOBS')
tap.setTimeout(0)

const words = process.argv.slice(2)
const specs = specsOf(words)

/** A file system in memory, and the bytes that must be free there. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MINIMUM = 4 * 1024 ** 3

/**
 * Where stores of specs are. In memory nothing waits for a disk to sync, which took a third of the time: what a store asks of
 * its disk, and when, is looked at in the calls. What tries disks is on one, and with SPEC_FULL all is.
 */
function placeOfStores(): string {
  if (process.env['SPEC_FULL'] === '1' || specs.some((name) => isIn(ON_DISK, name)) || !existsSync(MEMORY))
    return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize < MEMORY_BYTES_MINIMUM ? tmpdir() : MEMORY
}

const stores = mkdtempSync(join(placeOfStores(), 'specs-'))
tap.teardown(() => rmSync(stores, { recursive: true, force: true }))

/** By `env`, since what tap starts with a variable of its own is given it back whatever the options say. */
function spawnGroup(name: string, names: readonly string[]): void {
  const environment = [`SPEC_GROUP=${names.join(' ')}`, `TMPDIR=${stores}`]
  const command = ['NODE_OPTIONS=', ...environment, node, '--enable-source-maps', join(FOLDER, 'run-group.js')]
  void tap.spawn('env', command, { name, timeout, buffered: true })
}

const rule = new QuickSpecs('.')
const quick = new Set(specs.filter((name) => rule.isQuick(join('spec', name.replace(/\.js$/, '.ts')))))
if (!words.includes(QUICK)) {
  const started = specs.filter((name) => !quick.has(name))
  for (const first of started.filter((name) => FIRST.includes(name))) spawnGroup(first, [first])
  const others = started.filter((name) => !FIRST.includes(name))
  const isAlone = (name: string) => isIn(ALONE, name) || setsRootTest(sourceOf(name))
  for (const { name, specs: group } of groupsOf(others, isAlone)) spawnGroup(name, group)
}
for (let part = 0; part < QUICK_PROCESSES; part += 1) {
  const group = [...quick].filter((_, index) => index % QUICK_PROCESSES === part)
  if (group.length > 0) spawnGroup(`quick specs, ${part + 1} of ${QUICK_PROCESSES}`, group)
}
