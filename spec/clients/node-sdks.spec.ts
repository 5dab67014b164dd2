/**
 * minio-js and the AWS SDK for JavaScript with lib-storage, with their defaults, over HTTP and over TLS, in `strict` and in
 * `compatible`. Versions are those of node/package-lock.json, which npm installs into a directory that is removed.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { temporaryDirectory } from '../support/test-server.ts'
import { startAll, type Target } from './both-servers.ts'
import { type Outcome, run, surroundings } from './client-programs.ts'
import { SOURCES } from './client-tools.ts'
import { roundTrips } from './round-trips.ts'

const place = temporaryDirectory()
const directory = join(place, 'node')
cpSync(join(SOURCES, 'node'), directory, { recursive: true })
const words = ['ci', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund']
const installed = await run('npm', words, { environment: surroundings(), directory })
if (installed.code !== 0) throw new Error(`npm ${words.join(' ')}: ${installed.stderr.slice(-2000)}`)
const all = await startAll()

function programFor(program: string, { authority }: Target): (given: readonly string[]) => Promise<Outcome> {
  const environment = authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }
  return (given) =>
    run(process.execPath, ['--no-warnings', join(directory, `${program}.mjs`), ...given], { environment })
}

for (const program of ['minio_js', 'lib_storage']) {
  test(program, async (t) => {
    await Promise.all(all.targets.map((target) => roundTrips(t, program, target, programFor(program, target))))
  })
}

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
