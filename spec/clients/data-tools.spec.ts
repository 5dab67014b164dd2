/**
 * The data tools of data-tools.md, over HTTP and over TLS, in round trips that are in data-tools/. With the settings of that
 * page: what works, and that what is refused shows the way out to whoever uses the tool. In `compatible`
 * and the defaults of the tool: what was refused works, and no upload is left open.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { startAll, type Target } from './both-servers.ts'
import { clientTools, SOURCES } from './client-tools.ts'

const SCRIPTS = join(SOURCES, 'data-tools')
const ENDING = '_round_trips.py'
const tools = await clientTools()
const all = await startAll()

interface Check {
  readonly name: string
  readonly got: unknown
  readonly expected: unknown
}

/** All certificates that a tool trusts, under the names that the tools give them. */
function trusting({ authority }: Target): Record<string, string> {
  return authority === undefined ? {} : { AWS_CA_BUNDLE: authority, SSL_CERT_FILE: authority }
}

async function roundTrips(t: Test, tool: string, target: Target): Promise<void> {
  const bucket = `tools-${tool.replaceAll('_', '-')}`
  await target.makeBucket(bucket)
  const { endpoint, accessKey, secretKey, extended } = target
  const words = [
    join(SCRIPTS, tool + ENDING),
    endpoint,
    accessKey,
    secretKey,
    bucket,
    extended ? 'extended' : 'default',
  ]
  const { code, stdout, stderr } = await tools.run('python', words, { environment: trusting(target) })
  const lines = String(stdout)
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const checks = lines.map((line) => JSON.parse(line) as Check)
  for (const { name, got, expected } of checks) t.same(got, expected, `${target.name}: ${name}`)
  t.equal(checks.at(-1)?.name, 'end', `${target.name}: it came to its end`, { stderr })
  t.equal(code, 0, `${target.name}: exit code`, { stderr })
  if (extended) t.same(await target.openUploads(bucket), [], `${target.name}: no upload is left open`)
}

const names = readdirSync(SCRIPTS).filter((name) => name.endsWith(ENDING))
if (names.length === 0) throw new Error(`no round trips in ${SCRIPTS}`)
for (const name of names) {
  const tool = name.slice(0, -ENDING.length)
  test(tool, async (t) => {
    await Promise.all(all.targets.map((target) => roundTrips(t, tool, target)))
  })
}

test('end', async () => {
  await all.stop()
})
