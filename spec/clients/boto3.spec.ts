/**
 * boto3 before the trailing checksums of 1.36, as Debian has it, and after them, from the client tools: with the settings of
 * the page, and with its defaults against servers in `compatible`. The round trips are in
 * boto3_round_trips.py.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Test, test } from 'tap'
import { temporaryDirectory } from '../support/test-server.ts'
import { startAll, type Target } from './both-servers.ts'
import { type Program, programs, run } from './client-programs.ts'
import { clientTools } from './client-tools.ts'

const SCRIPT = fileURLToPath(new URL('../../../spec/clients/boto3_round_trips.py', import.meta.url))
const all = await startAll()
const place = temporaryDirectory()
const VERSION = ['-c', 'import boto3; print("boto3", boto3.__version__)']

interface Check {
  readonly name: string
  readonly got: unknown
  readonly expected: unknown
}

const old = (await programs('python3', VERSION)).find(({ version }) => /^boto3 1\.(?:[0-2]?\d|3[0-5])\./.test(version))
if (old === undefined)
  throw new Error('no python3 on the PATH has a boto3 before 1.36; .ci/run installs what is needed')
const path = (await clientTools()).path('python')
const recent: Program = { path, version: String((await run(path, VERSION)).stdout).trim() }

async function roundTrips(t: Test, program: Program, target: Target): Promise<void> {
  const { endpoint, accessKey, secretKey, authority, extended } = target
  const bucket = `boto3-${program === recent ? 'recent' : 'old'}`
  const words = [endpoint, accessKey, secretKey, bucket, join(place, 'transfer'), extended ? 'extended' : 'default']
  const environment = authority === undefined ? {} : { AWS_CA_BUNDLE: authority, SSL_CERT_FILE: authority }
  const { code, stdout, stderr } = await run(program.path, ['-B', SCRIPT, ...words], { environment })
  const lines = String(stdout).trim().split('\n')
  for (const { name, got, expected } of lines.map((line) => JSON.parse(line) as Check)) t.same(got, expected, name)
  t.equal(code, 0, 'it came to its end', { stderr })
}

const RUNS: readonly (readonly [Program, string])[] = [
  [old, 'HTTP'],
  [recent, 'HTTP'],
  [old, 'HTTP with extensions'],
  [recent, 'TLS with extensions'],
]
for (const [program, name] of RUNS) {
  const target = all.targets.find((candidate) => candidate.name === name)
  if (target === undefined) throw new Error(`no server over ${name}`)
  test(`${program.version} over ${name}`, (t) => roundTrips(t, program, target))
}

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
