// Builds the console: types of the management interface from its OpenAPI document, a check of the types, the bundle,
// and the page that verifies proof bundles.
// Does nothing when nothing has changed since the last time.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiTypes } from './console-api-types.mjs'

const CLIENT = 'planes/console/client'
const TYPES = 'build/console-api/api.ts'
const STAMP = 'build/console-api/stamp'

function digestOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path).update('\0').update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

/** Everything that the bundle is made of but the shared code of engine/, which is added by its folder. */
function inputs() {
  const shared = filesIn('engine/proof')
  return [...filesIn(CLIENT), ...shared, TYPES, 'spec/build-console.mjs', 'package-lock.json', 'tsconfig.json']
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort()
}

function run(program, ...words) {
  const { status, error } = spawnSync(process.execPath, [program, ...words], { stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

const { openApiDocument } = await import('../build/planes/management/openapi.js')
const { routeList } = await import('../build/planes/management/route-list.js')
mkdirSync('build/console-api', { recursive: true })
const types = apiTypes(openApiDocument('0', routeList))
if (!existsSync(TYPES) || readFileSync(TYPES, 'utf8') !== types) writeFileSync(TYPES, types)

const stamp = digestOf(inputs())
const isMade = ['build/console/index.html', 'build/console-page/verify.html'].every((path) => existsSync(path))
const isFresh = isMade && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp
if (!isFresh) {
  if (!existsSync('node_modules/vite')) {
    process.stderr.write('The console needs packages that are not installed: npm ci\n')
    process.exit(1)
  }
  run('node_modules/typescript/bin/tsc', '-p', CLIENT)
  for (const config of ['vite.config.mjs', 'vite.verify.mjs']) {
    run('node_modules/vite/bin/vite.js', 'build', '--config', `${CLIENT}/${config}`)
  }
  writeFileSync(STAMP, stamp)
}
