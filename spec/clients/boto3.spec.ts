/**
 * boto3 before the trailing checksums of 1.36, as Debian has it, and after them, from the client tools. The round trips are in
 * boto3_round_trips.py.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { type Program, programs, run } from './client-programs.ts'
import { clientTools } from './client-tools.ts'

const SCRIPT = fileURLToPath(new URL('../../../spec/clients/boto3_round_trips.py', import.meta.url))
const server = await startProcess()
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

for (const [index, program] of [old, recent].entries()) {
  test(program.version, async (t) => {
    const words = [server.endpoint, server.accessKey, server.secretKey, `boto3-${index}`, join(place, 'transfer')]
    const { code, stdout, stderr } = await run(program.path, ['-B', SCRIPT, ...words])
    const lines = String(stdout).trim().split('\n')
    for (const { name, got, expected } of lines.map((line) => JSON.parse(line) as Check)) t.same(got, expected, name)
    t.equal(code, 0, 'it came to its end', { stderr })
  })
}

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
