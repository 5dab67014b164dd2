/**
 * Runs specs that start nothing one after the other in this process: each saves the start of its own, which costs more than
 * most of them. `SPEC_GROUP` names them, since tap makes names of directories of the arguments. An error says its spec.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import tap from 'tap'

for (const name of (process.env['SPEC_GROUP'] ?? '').split(' ')) {
  tap.comment(name)
  await import(pathToFileURL(join('build/spec', name)).href)
}
