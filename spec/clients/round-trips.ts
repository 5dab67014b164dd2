/** Round trips that a program in another language makes, and prints: one JSON object a line, as data-tools/checks.py has it. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import type { BothServers, Target } from './both-servers.ts'
import type { Outcome } from './client-programs.ts'
import { type ClientTools, SOURCES } from './client-tools.ts'

interface Check {
  readonly name: string
  readonly got: unknown
  readonly expected: unknown
}

/** All certificates that a tool trusts, under the names that the tools give them. */
export function trusting({ authority }: Target): Record<string, string> {
  return authority === undefined ? {} : { AWS_CA_BUNDLE: authority, SSL_CERT_FILE: authority }
}

/**
 * Makes the bucket `tools-TOOL`, runs the program and judges each of its lines, the last of which says that it came to its end.
 * @param start with the arguments that every one of them has: endpoint, keys, bucket, and `extended` or `default`
 */
export async function roundTrips(
  t: Test,
  tool: string,
  target: Target,
  start: (words: readonly string[]) => Promise<Outcome>,
): Promise<void> {
  const bucket = `tools-${tool.replaceAll('_', '-')}`
  await target.makeBucket(bucket)
  const { endpoint, accessKey, secretKey, extended } = target
  const mode = extended ? 'extended' : 'default'
  const { code, stdout, stderr } = await start([endpoint, accessKey, secretKey, bucket, mode])
  const lines = String(stdout)
    .split('\n')
    .filter((line) => line.startsWith('{"name"'))
  const checks = lines.map((line) => JSON.parse(line) as Check)
  for (const { name, got, expected } of checks) t.same(got, expected, `${target.name}: ${name}`)
  t.equal(checks.at(-1)?.name, 'end', `${target.name}: it came to its end`, { stderr })
  t.equal(code, 0, `${target.name}: exit code`, { stderr })
  if (extended) t.same(await target.openUploads(bucket), [], `${target.name}: no upload is left open`)
}

const ENDING = '_round_trips.py'

/** A script with the certificates that its server needs. */
function scriptFor(path: string, tools: ClientTools, target: Target): (words: readonly string[]) => Promise<Outcome> {
  // What the scripts of all folders share is in one of them.
  const environment = { ...trusting(target), PYTHONPATH: join(SOURCES, 'data-tools') }
  return (words) => tools.run('python', [path, ...words], { environment })
}

/** A test of each script in a folder of spec/clients, against all servers at once. */
export function tryScripts(folder: string, tools: ClientTools, { targets }: BothServers): void {
  const place = join(SOURCES, folder)
  const names = readdirSync(place).filter((name) => name.endsWith(ENDING))
  if (names.length === 0) throw new Error(`no round trips in ${place}`)
  for (const name of names) {
    const tool = name.slice(0, -ENDING.length)
    test(tool, async (t) => {
      const tries = targets.map((target) => roundTrips(t, tool, target, scriptFor(join(place, name), tools, target)))
      await Promise.all(tries)
    })
  }
}
