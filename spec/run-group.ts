/**
 * Runs specs one after the other in this process: each saves the start of its own, and finds the modules loaded and compiled that
 * those before it used. `SPEC_GROUP` names them, since tap makes names of directories of the arguments. An error says its spec.
 * A spec is over when its tests are: what it gave to `tap.teardown` is run then, before the next is loaded.
 */
import { once } from 'node:events'
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

for (const name of names) {
  tap.comment(name)
  await attempt(name, () => import(pathToFileURL(join('build/spec', name)).href))
  while (!tap.idle) await once(tap, 'idle')
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await attempt(name, end)
  waiting.delete(name)
}
tap.end()
