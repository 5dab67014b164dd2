/** Forms of boto3 and of MinIO's library for Python, sent by curl and urllib3, with the extension `post-object`. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { clientTools, SOURCES } from './client-tools.ts'

interface Check {
  readonly name: string
  readonly got: unknown
  readonly expected: unknown
}

test('forms as libraries make them are written', async (t) => {
  const server = await startProcess({ environment: { OBJECT_STORE_S3_PROFILE: 'compatible' } })
  const place = temporaryDirectory()
  t.teardown(async () => {
    await server.stop()
    rmSync(place, { recursive: true })
  })
  const { endpoint, accessKey, secretKey } = server
  const words = [join(SOURCES, 'forms_of_browsers.py'), endpoint, accessKey, secretKey, 'forms', join(place, 'file')]
  const { code, stdout, stderr } = await (await clientTools()).run('python', words)
  const lines = String(stdout).trim().split('\n')
  for (const { name, got, expected } of lines.map((line) => JSON.parse(line) as Check)) t.same(got, expected, name)
  t.equal(code, 0, 'it came to its end', { stderr })
})
