// Makes tap's plugin set match .taprc before the first run. Without this step the first `tap run` after an
// install still has the TypeScript plugin in memory, which needs a compiler API that TypeScript 7 lacks.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const pluginSet = 'node_modules/@tapjs/test/test-built/dist/esm/index.js'
const stale = !existsSync(pluginSet) || readFileSync(pluginSet, 'utf8').includes('@tapjs/typescript')
if (stale) {
  const built = spawnSync('npx', ['tap', 'build'], { stdio: 'inherit' })
  process.exitCode = built.status ?? 1
}
