/** `app create`: an application's account, policy and key, and what a failure leaves. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GetObjectCommand, ListBucketsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { s3ClientOf } from '../support/identities.ts'
import type { AccountRecord, IssuedCredential, PolicyRecord } from '../support/management-records.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { type Outcome, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api, apiEndpoint, endpoint } = server
const environment = { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
const CREATE = ['app', 'create']
const AT = ['--s3-url', endpoint]

function create(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return run([...CREATE, ...words, ...AT], { environment: { ...environment, ...more } })
}

interface Shown {
  readonly account_id: string
  readonly policy_id: string
  readonly access_key: string
  readonly secret_key: string
  readonly snippets: Readonly<Record<string, string>>
}

async function made(words: readonly string[]): Promise<Shown> {
  const { exitCode, stdout, stderr } = await create([...words, '--json'])
  if (exitCode !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Shown
}

function clientOf({ access_key, secret_key }: Pick<Shown, 'access_key' | 'secret_key'>) {
  return s3ClientOf(endpoint, { access_key, secret_key } as IssuedCredential)
}

/** The code of the refusal, or `done`. */
async function outcomeOf(sent: Promise<unknown>): Promise<string> {
  return sent.then(
    () => 'done',
    (error: Error) => error.name,
  )
}

async function accountsNamed(name: string): Promise<AccountRecord[]> {
  const { service_accounts: all } = await api.get<{ service_accounts: AccountRecord[] }>('GET', '/service-accounts')
  return all.filter((each) => each.name === name)
}

test('each access does what it says, below its prefix, and nothing else', async (t) => {
  await api.get('POST', '/buckets', { name: 'other' })
  const can = {
    read: { put: 'AccessDenied', get: 'done', list: 'done' },
    write: { put: 'done', get: 'AccessDenied', list: 'AccessDenied' },
    'read-write': { put: 'done', get: 'done', list: 'done' },
  } as const
  for (const access of ['read-write', 'read', 'write'] as const)
    for (const prefix of ['', 'in/']) {
      const words = [`${access} ${prefix}`, '--bucket', 'shared', '--make-bucket', '--access', access]
      const app = await made([...words, ...(prefix === '' ? [] : ['--prefix', prefix])])
      const s3 = clientOf(app)
      const Key = `${prefix}key`
      const put = (Bucket: string, key: string) =>
        outcomeOf(s3.send(new PutObjectCommand({ Bucket, Key: key, Body: 'x' })))
      const list = (Bucket: string, Prefix: string) => outcomeOf(s3.send(new ListObjectsV2Command({ Bucket, Prefix })))
      const { put: puts, get: gets, list: lists } = can[access]
      t.equal(await put('shared', Key), puts, `${access} ${prefix} puts`)
      t.equal(await outcomeOf(s3.send(new GetObjectCommand({ Bucket: 'shared', Key }))), gets, `${access} gets`)
      t.equal(await list('shared', prefix), lists, `${access} lists`)
      t.equal(await put('other', Key), 'AccessDenied')
      t.equal(await list('other', prefix), 'AccessDenied')
      if (prefix !== '') {
        t.equal(await put('shared', 'out'), 'AccessDenied')
        t.equal(await list('shared', ''), 'AccessDenied', 'names outside the prefix are not listed')
        t.equal(await list('shared', 'in'), 'AccessDenied')
      }
      t.same(
        (await s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name),
        ['shared'],
      )
      s3.destroy()
    }
})

test('what it prints: the secret once, and the same texts for every client', async (t) => {
  const words = ['shown', '--bucket', 'shared', '--access', 'read-write', '--prefix', "it's/"]
  const { exitCode, stdout } = await create(words)
  t.equal(exitCode, 0)
  const [, secret = ''] = /secret_key +(\S+)/.exec(stdout) ?? []
  t.match(stdout, /^name +shown\naccount_id +sa-/)
  t.match(stdout, 'The secret key is shown this once.')
  for (const client of ['aws', 'boto3', 'rclone', 'DuckDB', 'Spark', 'Terraform']) t.match(stdout, `\n# ${client}\n`)
  t.match(stdout, "cp - 's3://shared/it'\\''s/hello.txt'", 'quoted for a shell')
  t.match(stdout, "COPY (SELECT 42 AS answer) TO 's3://shared/it''s/answer.parquet'")
  t.ok(stdout.split(secret).length > 5)
  t.match(stdout, 'multiobjectdelete.enable false', 'a strict server')
})

test('with --profile-file the keys are in a new file of the owner alone, and nowhere else', async (t) => {
  const directory = t.testdir({ 'there.ini': '' })
  const file = join(directory, 'keys.ini')
  const words = ['filed', '--bucket', 'shared', '--access', 'read']
  const taken = await create([...words, '--profile-file', join(directory, 'there.ini')])
  t.match(taken, { exitCode: 2, stderr: /exists already; --profile-file names a new file\. Nothing was made/ })
  t.same(await accountsNamed('filed'), [])
  const { exitCode, stdout } = await create([...words, '--profile-file', file])
  t.equal(exitCode, 0)
  t.equal(statSync(file).mode & 0o777, 0o600)
  const [, secret = ''] = /^aws_secret_access_key = (\S+)$/m.exec(readFileSync(file, 'utf8')) ?? []
  t.equal(secret.length, 40)
  t.notMatch(stdout, secret)
  t.match(stdout, file)
  t.match(await create([...words, '--profile-file', join(directory, 'none', 'x')]), {
    exitCode: 2,
    stderr: /cannot be made/,
  })
  const failed = join(directory, 'failed.ini')
  t.match(await create(['x', '--bucket', 'none', '--access', 'read', '--profile-file', failed]), { exitCode: 4 })
  t.notOk(existsSync(failed), 'a file without keys does not stay')
})

test('a name that is taken is refused, whether by this application or another', async (t) => {
  const words = ['taken', '--bucket', 'shared', '--access', 'read']
  const first = await made(words)
  t.match(await create(words), {
    exitCode: 1,
    stdout: '',
    stderr: /the application taken \(sa-.+its secret key was shown once: object-store credential rotate taken/,
  })
  t.match(await create(['taken', '--bucket', 'shared', '--access', 'write']), {
    exitCode: 1,
    stderr: /there is an account taken already \(sa-.+, application: read on shared\/\*\), for something else/,
  })
  t.match(await create(['TAKEN', '--bucket', 'shared', '--access', 'read']), {
    exitCode: 1,
    stderr: /ACCOUNT_NAME_TAKEN[^]+made so far: policy pol-/,
  })
  const [account] = await accountsNamed('taken')
  t.same(account?.policies, [first.policy_id])
  t.equal(account?.credentials.length, 1, 'refusals issue no key')
})

test('what is half made is named, and the same command completes it with a new key', async (t) => {
  const words = ['half', '--bucket', 'shared', '--access', 'read']
  const [policy] = [await made(['whole', '--bucket', 'shared', '--access', 'read'])].map(({ policy_id }) => policy_id)
  const { statements } = await api.get<PolicyRecord>('GET', `/policies/${policy}`)
  const kept = await api.get<PolicyRecord>('POST', '/policies', { name: 'application half', statements })
  const json = { name: 'half', description: 'application: read on shared/*' }
  const { account, credential } = await api.get<{ account: AccountRecord; credential: IssuedCredential }>(
    'POST',
    '/service-accounts',
    json,
  )
  const app = await made(words)
  t.match(app, { account_id: account.id, policy_id: kept.id })
  const after = await api.get<AccountRecord>('GET', `/service-accounts/${account.id}`)
  t.same(
    after.credentials.map(({ credential_id: id, enabled }) => [id === credential.credential_id, enabled]),
    [
      [true, false],
      [false, true],
    ],
  )
  const s3 = clientOf(app)
  t.equal(await outcomeOf(s3.send(new ListObjectsV2Command({ Bucket: 'shared' }))), 'done')
  s3.destroy()
  t.match(await create(words), { exitCode: 1, stderr: /the application half .+ is there/ })
})

test('an application that was narrowed, or whose key is used, is not made again', async (t) => {
  const words = ['narrowed', '--bucket', 'shared', '--access', 'read-write']
  const app = await made(words)
  const statements = [{ effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:shared/*'] }]
  await api.get('PUT', `/policies/${app.policy_id}`, { name: 'application narrowed', statements })
  t.match(await create(words), { exitCode: 1, stderr: /the application narrowed .+ is there/ })
  const s3 = clientOf(app)
  await outcomeOf(s3.send(new GetObjectCommand({ Bucket: 'shared', Key: 'none' })))
  s3.destroy()
  await server.journal()
  await api.get('DELETE', `/policies/${app.policy_id}/bindings/${app.account_id}`)
  t.match(await create(words), { exitCode: 1, stderr: /the application narrowed .+ is there/ })
  const [account] = await accountsNamed('narrowed')
  t.equal(account?.credentials.length, 1)
  t.ok(account?.credentials[0]?.enabled)
})

test('a failure on the way says what was made', async (t) => {
  // The engine refuses the binding: the account and its policy are there.
  const failing = await startManaged({
    engine: (engine) =>
      new Proxy(engine, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target)
          if (typeof member !== 'function') return member
          return (...given: readonly [unknown, ...unknown[]]) => {
            const { kind } = (given[0] ?? {}) as { kind?: string }
            if (name === 'execute' && kind === 'attach-policy') throw new Error('the binding fails')
            return Reflect.apply(member, target, given) as unknown
          }
        },
      }),
  })
  t.teardown(() => failing.stop())
  const words = ['broken', '--bucket', 'shared', '--make-bucket', '--access', 'read', '--url', failing.apiEndpoint]
  const { exitCode, stdout, stderr } = await create(words)
  t.equal(exitCode, 1)
  t.equal(stdout, '')
  t.match(
    stderr,
    /made so far: policy pol-\S+, account sa-\S+ with the access key OS\S+\. The same command completes it/,
  )
})

test('mistakes on the command line make nothing', async (t) => {
  const all = ['usage', '--bucket', 'shared', '--access', 'read']
  for (const [words, said] of [
    [['usage', '--bucket', 'shared', '--access', 'admin'], /--access is read .+, not admin/],
    [['usage', '--bucket', 'Not_A_Bucket', '--access', 'read'], /Not_A_Bucket is not a valid bucket name/],
    [[...all, '--prefix', 'a*'], /--prefix is what keys begin with, without \*, not a\*/],
    [['usage', '--access', 'read'], /an application needs --bucket and --access/],
  ] as const)
    t.match(await create(words), { exitCode: 2, stderr: said })
  t.match(await run([...CREATE, ...all, '--s3-url', 'store:7600'], { environment }), {
    exitCode: 2,
    stderr: /--s3-url/,
  })
  t.match(await create(['usage', '--bucket', 'absent', '--access', 'read']), {
    exitCode: 4,
    stderr: /there is no bucket absent; --make-bucket makes it\. Nothing was made/,
  })
  t.same(await accountsNamed('usage'), [])
})

function listBuckets(...words: readonly string[]): Promise<Outcome> {
  return run(['bucket', 'list', ...words], { environment: { OBJECT_STORE_URL: apiEndpoint } })
}

function createPolicy(...words: readonly string[]): Promise<Outcome> {
  return run(['policy', 'create', ...words, '--json'], { environment })
}

test('the token comes from the secrets file of a quick start', async (t) => {
  const directory = t.testdir({
    'data.secrets.env': `OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN=${SYSTEM_TOKEN}\n`,
    none: '',
  })
  const file = join(directory, 'data.secrets.env')
  t.match(await listBuckets('--secrets-file', file), { exitCode: 2, stderr: /open to other users/ })
  writeFileSync(join(directory, 'own.env'), `OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN=${SYSTEM_TOKEN}\n`, { mode: 0o600 })
  writeFileSync(join(directory, 'empty.env'), '', { mode: 0o600 })
  const own = join(directory, 'own.env')
  t.match(await listBuckets('--secrets-file', own), { exitCode: 0 })
  t.match(await listBuckets('--secrets-file', join(directory, 'empty.env')), {
    exitCode: 2,
    stderr: /has no OBJECT_STORE_/,
  })
  t.match(await listBuckets('--secrets-file', join(directory, 'absent')), { exitCode: 2, stderr: /does not exist/ })
  t.match(await listBuckets('--secrets-file', own, '--token', 'x'), { exitCode: 2, stderr: /cannot be combined/ })
  t.match(await listBuckets('--secrets-file', own, '--root'), { exitCode: 2, stderr: /cannot be combined/ })
})

test('built-in policies by name, without a file', async (t) => {
  const { stdout } = await createPolicy('named', '--access', 'read', '--bucket', 'shared', '--prefix', 'a/')
  t.match(JSON.parse(stdout), {
    name: 'named',
    statements: [
      { effect: 'allow', actions: ['s3:GetBucketLocation', 's3:ListAllMyBuckets'], resources: ['bucket:shared'] },
      { effect: 'allow', resources: ['bucket:shared/a/*'] },
    ],
  })
  for (const words of [
    ['named'],
    ['named', '--access', 'read'],
    ['named', 'file.json', '--access', 'read', '--bucket', 'shared'],
  ])
    t.match(await createPolicy(...words), {
      exitCode: 2,
      stderr: /a policy comes from a file, or from --access with --bucket/,
    })
})
