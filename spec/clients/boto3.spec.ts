/** boto3, every version that is installed; the round trips are in boto3_round_trips.py. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { programs, run } from './client-programs.ts'

const SCRIPT = fileURLToPath(new URL('../../../spec/clients/boto3_round_trips.py', import.meta.url))
const server = await startProcess()
const place = temporaryDirectory()
const VERSION = ['-c', 'import boto3; print("boto3", boto3.__version__)']

interface Check {
  readonly name: string
  readonly got: unknown
  readonly expected: unknown
}

for (const [index, program] of (await programs('python3', VERSION)).entries()) {
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
