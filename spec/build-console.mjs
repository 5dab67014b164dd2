// Builds the console: types of the management interface from its OpenAPI document, the actions of policies, a check of the types, the bundle,
// and the page that verifies proof bundles.
// Does nothing when nothing has changed since the last time.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { actionTable } from './console-actions.mjs'
import { apiTypes } from './console-api-types.mjs'

const CLIENT = 'planes/console/client'
const GENERATED = 'build/console-api'
const STAMP = 'build/console-api/stamp'

function digestOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path).update('\0').update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

/** Everything that the bundle is made of but the shared code of engine/, which is added by its folder. */
function inputs() {
  const shared = [...filesIn('engine/proof'), 'engine/access/policy.ts']
  const settings = ['spec/build-console.mjs', 'package-lock.json', 'tsconfig.json']
  return [...filesIn(CLIENT), ...shared, ...Object.keys(generated), ...settings]
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

const { openApiDocument } = await import('../build/planes/management/openapi/openapi.js')
const { routeList } = await import('../build/planes/management/routing/route-list.js')
const { S3_ACTIONS } = await import('../build/planes/s3/authorize.js')
const { OPERATIONS } = await import('../build/planes/s3/operation-list.js')
const generated = {
  [`${GENERATED}/api.ts`]: apiTypes(openApiDocument('0', routeList)),
  [`${GENERATED}/actions.ts`]: actionTable(S3_ACTIONS, OPERATIONS),
}
mkdirSync(GENERATED, { recursive: true })
for (const [path, source] of Object.entries(generated)) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== source) writeFileSync(path, source)
}

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
