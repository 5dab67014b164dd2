// Prepares build/ for an incremental compile, which neither removes what a deleted source left behind, so that a spec
// that is gone would still run, nor notices that an output is missing.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const PROJECTS = {
  'build/production.tsbuildinfo': ['engine', 'projections', 'planes', 'workers', 'cli'],
  'build/specs.tsbuildinfo': ['spec', 'bench'],
}

function filesIn(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
}

for (const [record, folders] of Object.entries(PROJECTS)) {
  const outputs = folders.flatMap((folder) => filesIn(join('build', folder)))
  for (const output of outputs) {
    const source = output.slice('build/'.length).replace(/(\.js|\.js\.map|\.d\.ts)$/, '.ts')
    if (source.endsWith('.ts') && !existsSync(source)) rmSync(output)
  }
  const made = new Set(outputs)
  // The console's client is compiled by its bundler.
  const sources = folders
    .flatMap(filesIn)
    .filter((name) => name.endsWith('.ts') && !name.startsWith('planes/console/client/'))
  // Without its record of what it has compiled the compiler makes everything again.
  if (!sources.every((name) => made.has(join('build', name.replace(/\.ts$/, '.js'))))) rmSync(record, { force: true })
}
