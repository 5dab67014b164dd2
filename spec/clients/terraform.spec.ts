/**
 * Terraform with its state in the store, locked by a file beside it: over HTTP and over TLS, in `strict`, with the settings that
 * the refusal names, and in `compatible` with its defaults. Where it is on the PATH: it comes from no registry that CI has.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { temporaryDirectory } from '../support/test-server.ts'
import { succeeds } from './aws-command.ts'
import { startAll, type Target } from './both-servers.ts'
import { type Outcome, programs, run } from './client-programs.ts'
import { trusting } from './round-trips.ts'

const place = temporaryDirectory()
const found = await programs('terraform', ['-version']).catch(() => [])

function configuration({ endpoint }: Target, more: string): string {
  return `terraform {
  backend "s3" {
    bucket                      = "terraform"
    key                         = "state/one"
    region                      = "us-east-1"
    endpoints                   = { s3 = "${endpoint}" }
    use_path_style              = true
    use_lockfile                = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_region_validation      = true
    skip_metadata_api_check     = true
    ${more}
  }
}
resource "terraform_data" "one" { input = "value" }
output "one" { value = terraform_data.one.output }
`
}

async function roundTrips(t: Test, program: string, target: Target): Promise<void> {
  const { accessKey, secretKey, authority, extended } = target
  await target.makeBucket('terraform')
  const needsSettings = !extended && authority !== undefined
  const keys = { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey, CHECKPOINT_DISABLE: '1' }
  const terraform = (
    words: readonly string[],
    directory: string,
    more: Record<string, string> = {},
  ): Promise<Outcome> =>
    run(program, [...words, '-no-color'], { environment: { ...keys, ...trusting(target), ...more }, directory })
  if (needsSettings) {
    const plain = join(place, `plain-${target.name}`)
    mkdirSync(plain)
    writeFileSync(join(plain, 'main.tf'), configuration(target, ''))
    await succeeds(t, terraform(['init'], plain), 'init without settings')
    const { code, stdout, stderr } = await terraform(['apply', '-auto-approve'], plain)
    t.not(code, 0, 'no lock can be written')
    t.match((String(stdout) + stderr).replaceAll(/\s+/g, ' '), 'skip_s3_checksum', 'and the refusal names the setting')
    t.same(await target.heldBy('terraform'), [], 'nothing is left')
  }
  const directory = join(place, target.name.replaceAll(' ', '-'))
  mkdirSync(directory)
  writeFileSync(join(directory, 'main.tf'), configuration(target, needsSettings ? 'skip_s3_checksum = true' : ''))
  const more: Record<string, string> = needsSettings ? { AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required' } : {}
  const works = (...words: readonly string[]) => succeeds(t, terraform(words, directory, more), words.join(' '))
  await works('init')
  await works('apply', '-auto-approve')
  t.match(await works('output'), 'one = "value"')
  t.same(await target.heldBy('terraform'), ['state/one'], 'the state, and no lock')
  t.match(JSON.parse(String(await target.ask('GET', 'terraform/state/one'))), { outputs: { one: { value: 'value' } } })
  await works('plan', '-detailed-exitcode')
  await works('destroy', '-auto-approve')
}

const [program] = found
if (program === undefined) {
  tap.plan(0, 'terraform is not on the PATH, and left out')
} else {
  const all = await startAll()
  for (const target of all.targets)
    test(`${program.version} over ${target.name}`, (t) => roundTrips(t, program.path, target))
  test('end', async () => {
    await all.stop()
    rmSync(place, { recursive: true })
  })
}
