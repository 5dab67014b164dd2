/**
 * Runs specs one after the other in this process: each saves the start of its own, and finds the modules loaded and compiled that
 * those before it used. `SPEC_GROUP` names them, since tap makes names of directories of the arguments. An error says its spec.
 * A spec is over when its tests are: what it gave to `tap.teardown` is run then, before the next is loaded.
 * `SPEC_TIMES` names a file that gets a line for each: seconds of processors, its own and of processes that it waited for, and
 * its path.
 */
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import tap from 'tap'

const names = (process.env['SPEC_GROUP'] ?? '').split(' ')
const waiting = new Set(names)
// What ends the process without an error would pass otherwise, with all that was not tried.
process.once('exit', () => {
  if (waiting.size === 0) return
  process.exitCode = 1
  process.stderr.write(`the process ended before the end of ${[...waiting].join(', ')}\n`)
})

// Beside all else that specs make, and not below this checkout. Before it removes a directory that is not below the current
// one, tap changes to its parent, and the paths of specs would lead elsewhere.
tap.testdirName = join(mkdtempSync(join(tmpdir(), 'fixtures-')), 'of')
process.chdir = () => undefined

const ends: (() => unknown)[] = []
Object.assign(tap, { teardown: (end: () => unknown) => void ends.push(end) })

/** A file that cannot be loaded, or cleared away, fails by itself; those after it still run. */
async function attempt(name: string, step: () => unknown): Promise<void> {
  try {
    await step()
  } catch (error) {
    tap.error(error, name)
  }
}

/** Seconds of processors: own, and of processes that ended, by the 14th to 17th word of proc(5), of which the 2nd is in brackets. */
function processorTimes(): readonly [number, number] {
  const words = readFileSync('/proc/self/stat', 'utf8').replace(/^.*\)/s, '').split(' ')
  const [user = 0, system = 0, userOfChildren = 0, systemOfChildren = 0] = words
    .slice(12, 16)
    .map((ticks) => Number(ticks) / 100)
  return [user + system, userOfChildren + systemOfChildren]
}

const times = process.env['SPEC_TIMES']
let before: readonly [number, number] = [0, 0]
function note(name: string): void {
  if (times === undefined) return
  const now = processorTimes()
  appendFileSync(times, `${(now[0] - before[0]).toFixed(2)} ${(now[1] - before[1]).toFixed(2)} ${name}\n`)
  before = now
}

for (const name of names) {
  tap.comment(name)
  await attempt(name, () => import(pathToFileURL(join('build/spec', name)).href))
  while (!tap.idle) await once(tap, 'idle')
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await attempt(name, end)
  waiting.delete(name)
  note(name)
}
tap.end()
