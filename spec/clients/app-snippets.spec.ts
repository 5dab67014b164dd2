/** What `app create` prints for the AWS CLI, boto3, rclone and DuckDB, run as it was printed, over HTTP and TLS. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { type AppFacts, appSnippets, profileText } from '../../cli/access/app-snippets.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { startAll, type Target } from './both-servers.ts'
import { run } from './client-programs.ts'
import { clientTools } from './client-tools.ts'

const PREFIX = "an app's/"
const all = await startAll()
const tools = await clientTools()
const place = temporaryDirectory()

/** The keys of root, so that the texts are tried and not the policies, which spec/cli/app-create.spec.ts tries. */
function factsOf(target: Target, file: string | undefined): AppFacts {
  const { endpoint: s3Url, accessKey, secretKey, extended } = target
  const bucket = `snippets-${file === undefined ? 'literal' : 'file'}`
  const facts = {
    name: 'web',
    access: 'read-write',
    bucket,
    prefix: PREFIX,
    s3Url,
    accessKey,
    secretKey,
    file,
  } as const
  return { ...facts, isStrict: !extended }
}

/** What a client of a snippet prints. */
async function ran(t: Test, name: string, program: string, words: readonly string[], target: Target): Promise<string> {
  const { authority } = target
  const home = join(place, target.name.replaceAll(' ', '-'))
  mkdirSync(home, { recursive: true })
  const trust = authority === undefined ? {} : { AWS_CA_BUNDLE: authority, SSL_CERT_FILE: authority }
  const environment = { HOME: home, AWS_EC2_METADATA_DISABLED: 'true', ...trust }
  const { code, stdout, stderr } = await run(program, words, { environment, directory: home })
  t.equal(code, 0, `${name} over ${target.name}: ${stderr}`)
  return String(stdout)
}

async function tries(t: Test, target: Target, file: string | undefined): Promise<void> {
  const facts = factsOf(target, file)
  if (file !== undefined) writeFileSync(file, profileText(facts), { mode: 0o600 })
  await target.makeBucket(facts.bucket)
  const snippets = appSnippets(facts)
  const textOf = (client: string) => (snippets[client] ?? []).join('\n')
  t.match(await ran(t, 'aws', 'bash', ['-e', '-c', textOf('aws')], target), / 6 hello\.txt\n/)
  const python = await ran(t, 'boto3', tools.path('python'), ['-B', '-c', textOf('boto3')], target)
  t.match(python, `["${PREFIX}hello.txt"]`)
  const configuration = join(place, 'rclone.conf')
  writeFileSync(configuration, textOf('rclone'))
  const [, command = ''] = /then: (rclone .*)$/m.exec(textOf('rclone')) ?? []
  const variable = file === undefined ? '' : `AWS_SHARED_CREDENTIALS_FILE=${file} `
  const line = `${variable}RCLONE_CONFIG=${configuration} ${command.replace(/^rclone/, tools.path('rclone'))}`
  t.match(await ran(t, 'rclone', 'bash', ['-c', line], target), / 5 hello\.txt\n/)
  if (file !== undefined) return
  // The extension comes as a package here: nothing is fetched while it runs.
  const queries = textOf('DuckDB').replace('INSTALL httpfs; LOAD httpfs;', '')
  const script = [
    'import os, pathlib, duckdb, duckdb_extension_httpfs',
    'files = pathlib.Path(duckdb_extension_httpfs.__file__).parent.rglob("*.duckdb_extension")',
    'database = duckdb.connect()',
    'database.execute("LOAD \'%s\'" % next(files))',
    'if "SSL_CERT_FILE" in os.environ:',
    '    database.execute("SET ca_cert_file = \'%s\'" % os.environ["SSL_CERT_FILE"])',
    `print(database.execute(${JSON.stringify(queries)}).fetchall())`,
  ]
  t.match(await ran(t, 'DuckDB', tools.path('python'), ['-B', '-c', script.join('\n')], target), '[(42,)]')
}

for (const target of all.targets) {
  test(`texts with the keys over ${target.name}`, (t) => tries(t, target, undefined))
  test(`texts with a file over ${target.name}`, async (t) => {
    const file = join(place, 'keys.ini')
    if (existsSync(file)) rmSync(file)
    await tries(t, target, file)
  })
}

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
