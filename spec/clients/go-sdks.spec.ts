/**
 * The AWS SDK for Go 2 and minio-go with their defaults, over HTTP and over TLS, in `strict` and in `compatible`; and suites of
 * others for stores, unmodified, in `compatible`: the acceptance test of thanos' objstore and the conformance test of gocloud's blob.
 * Modules are those of go/sdks/go.sum. It needs Go, and minutes to build.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { temporaryDirectory } from '../support/test-server.ts'
import { startAll, type Target } from './both-servers.ts'
import { type Outcome, run, surroundings } from './client-programs.ts'
import { SOURCES } from './client-tools.ts'
import { goEnvironment } from './go-programs.ts'
import { roundTrips, trusting } from './round-trips.ts'

const place = temporaryDirectory()
// Go's tools write beside what they build.
const directory = join(place, 'sdks')
cpSync(join(SOURCES, 'go', 'sdks'), directory, { recursive: true })

const BUILDS = [
  ['build', '-o', './built/', './aws_sdk', './minio_go'],
  ['test', '-c', '-o', './suites.test', './suites'],
]
for (const words of BUILDS) {
  const { code, stderr } = await run('go', words, {
    environment: { ...surroundings(), ...goEnvironment(place) },
    directory,
  })
  if (code !== 0) throw new Error(`go ${words.join(' ')}: ${stderr.slice(-2000)}`)
}
const all = await startAll()

/** A program with the certificates that its server needs. */
function programFor(program: string, target: Target): (words: readonly string[]) => Promise<Outcome> {
  return (words) => run(join(directory, 'built', program), words, { environment: trusting(target) })
}

for (const program of ['aws_sdk', 'minio_go']) {
  test(program, async (t) => {
    await Promise.all(all.targets.map((target) => roundTrips(t, program, target, programFor(program, target))))
  })
}

function suiteEnvironment(target: Target): Record<string, string> {
  const { endpoint, accessKey, secretKey, authority } = target
  return {
    ...trusting(target),
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
    SUITE_ENDPOINT: endpoint,
    SUITE_BUCKET: 'suites',
    S3_ENDPOINT: endpoint.split('//')[1] ?? '',
    S3_ACCESS_KEY: accessKey,
    S3_SECRET_KEY: secretKey,
    S3_INSECURE: String(authority === undefined),
    S3_INSECURE_SKIP_VERIFY: 'true',
  }
}

for (const target of all.targets.filter(({ extended }) => extended)) {
  test(`suites over ${target.name}`, async (t) => {
    await target.makeBucket('suites')
    for (const suite of ['TestThanos', 'TestGocloud']) {
      const words = ['-test.v', `-test.run=^${suite}$`]
      // Both keep files beside their sources.
      const options = { environment: suiteEnvironment(target), directory: join(directory, 'suites') }
      const { code, stdout, stderr } = await run(join(directory, 'suites.test'), words, options)
      t.equal(code, 0, suite, { stdout: String(stdout).slice(-4000), stderr: stderr.slice(-2000) })
      t.match(String(stdout), `--- PASS: ${suite} `, `${suite} ran`)
    }
  })
}

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
