/**
 * Runs spec files, each in a process of its own. `tap run` by itself also can, but loads a recorder of everything that is
 * loaded into each of them, and into each command that they start: that took half of the time, and nobody reads it.
 * Arguments: folders of build/spec, or single specs such as `planes/http`; without any, all but the slower suites. How
 * many run at once, and how long each may take, comes from `tap run`. `SPEC_NODE` names another binary of Node to run them.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import tap from 'tap'

const FOLDER = 'build/spec'
/** Folders that have a script of their own in package.json. */
const SLOWER = ['clients', 'crash', 'model', 'packaging']
/** What takes or waits longest goes first, so that none of it runs alone at the end. */
const FIRST = [
  'answers/answers.spec.js',
  'planes/management/bodies.spec.js',
  'planes/http-slow-clients.spec.js',
  'planes/concurrency-gate.spec.js',
  'cli/proofs.spec.js',
  'cli/tls.spec.js',
  'cli/start.spec.js',
]

function isIn(folders: readonly string[], name: string): boolean {
  return folders.some((folder) => name.startsWith(`${folder}/`) || name === `${folder}.spec.js`)
}

function specsOf(folders: readonly string[]): string[] {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.js'))
  const gone = FIRST.filter((name) => !names.includes(name))
  if (gone.length > 0) throw new Error(`spec/run-specs.ts names specs that are not there: ${gone.join(', ')}`)
  const wanted = names.filter((name) => (folders.length === 0 ? !isIn(SLOWER, name) : isIn(folders, name))).toSorted()
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
for (const name of specsOf(process.argv.slice(2))) {
  // By `env`, since what tap starts with a variable of its own is given it back whatever the options say.
  const command = ['NODE_OPTIONS=', node, '--enable-source-maps', join(FOLDER, name)]
  void tap.spawn('env', command, { name, timeout, buffered: true })
}
