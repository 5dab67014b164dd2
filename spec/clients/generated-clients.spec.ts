/** Clients of the management interface that generators make of its OpenAPI document: they are made, type-checked and used. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import tap, { test } from 'tap'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { run, surroundings } from './client-programs.ts'

const SCRIPT = fileURLToPath(new URL('../../../spec/clients/generated/try.sh', import.meta.url))
const server = await startManaged()
tap.teardown(() => server.stop())

/** The rest of the generators need toolchains of their own: see generated/README.md. */
for (const generator of ['typescript', 'python']) {
  test(generator, async (t) => {
    const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
    const { code, stdout, stderr } = await run('bash', [SCRIPT, generator], {
      environment: { ...surroundings(), ...environment },
    })
    t.equal(code, 0, 'it came to its end', { stderr })
    t.match(String(stdout), `${generator}: created, uploaded, listed, queried, refused`)
    t.same(server.undocumented, [], 'the document says all')
  })
}

test('what the script needs is said', async (t) => {
  const words = [[], ['cobol'], ['python', 'go']]
  for (const given of words) {
    const environment = {
      PATH: process.env['PATH'] ?? '',
      OBJECT_STORE_URL: 'http://127.0.0.1:1',
      OBJECT_STORE_TOKEN: '',
    }
    const { status, stderr } = spawnSync('bash', [SCRIPT, ...given], { env: environment, encoding: 'utf8' })
    t.match({ status, stderr }, { status: 2, stderr: /^usage: .*try\.sh typescript\|python\|go\|openapi-generator/ })
  }
})
