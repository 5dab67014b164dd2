/**
 * Accounts, credentials, tokens and policies.
 * Proves: RES-ACC-01, RES-POL-05.
 */
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import type { Command } from '../../engine/commands/commands.ts'
import { DomainError } from '../../engine/errors.ts'
import { AccessReader } from '../../projections/access/reader.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import {
  attachPolicy,
  createAccount,
  createPolicy,
  deleteAccount,
  deletePolicy,
  detachPolicy,
  issueCredential,
  issueToken,
  replacePolicy,
  revokeToken,
  setAccountStatus,
  setCredentialStatus,
} from '../support/access-commands.ts'
import { auditOf, digestOf } from '../support/commands.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { dumpStore, openTestStore } from '../support/test-store.ts'

const PAST = 1_000_000
const FUTURE = 9e15
const CREDENTIALS_MAXIMUM = 100
const POLICIES_MAXIMUM = 100

interface AccessStore {
  readonly access: AccessReader
  /** `done`, or the code of the refusal. */
  run(command: Command): Promise<string>
}

async function openAccess(t: Test): Promise<AccessStore> {
  // A fixture of the runner would be removed before the store is closed.
  const root = temporaryDirectory()
  const store = await openTestStore(root)
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  t.teardown(async () => {
    await environment.close()
    await store.close(true)
    rmSync(root, { recursive: true })
  })
  const access = new AccessReader(environment)
  const run = async (command: Command): Promise<string> => {
    try {
      await store.client.execute(command)
      return 'done'
    } catch (error) {
      if (error instanceof DomainError) return error.code
      throw error
    } finally {
      access.version()
    }
  }
  return { access, run }
}

function idsOf(access: AccessReader, account: string): string[] {
  return access.account(account)?.credentials.map(({ credential }) => credential) ?? []
}

test('an account comes with its first credential, and takes all of it along', async (t) => {
  const { access, run } = await openAccess(t)
  t.equal(await run(createAccount('a')), 'done')
  t.match(access.account('a'), { title: 'title of a', enabled: true, policies: [] })
  t.same(access.account('a')?.credentials, [{ credential: 'first of a', accessKey: 'a-KEY' }])
  t.match(access.credential('a-KEY'), {
    account: 'a',
    enabled: true,
    expiresMicroseconds: undefined,
    sealedSecret: Buffer.from('secret of a'),
  })
  t.equal(await run(createAccount('a')), 'account-exists')
  t.equal(await run({ ...createAccount('b'), accessKey: 'a-KEY' }), 'access-key-taken')
  t.equal(access.account('b'), undefined, 'nothing of a refused account is there')
  t.equal(await run(issueCredential('a', 'second')), 'done')
  t.equal(await run(issueCredential('a', 'second')), 'credential-exists')
  t.equal(await run({ ...issueCredential('a', 'third'), accessKey: 'second-KEY' }), 'credential-exists')
  t.equal(await run({ ...issueCredential('a', 'second'), accessKey: 'third-KEY' }), 'credential-exists')
  t.same(idsOf(access, 'a'), ['first of a', 'second'])
  const version = access.version()
  t.equal(await run(setAccountStatus('a', true)), 'done')
  t.equal(await run(setCredentialStatus('a', 'second', true)), 'done')
  t.equal(access.version(), version, 'what is so already changes nothing')
  t.equal(await run(deleteAccount('a')), 'done')
  t.equal(access.account('a'), undefined)
  t.equal(access.credential('a-KEY'), undefined)
  t.equal(access.credential('second-KEY'), undefined)
  t.equal(await run(createAccount('a')), 'done', 'the names are free again')
})

const named = (account: string, title: string) => ({ ...createAccount(account), title })

test('no two accounts have one name, not even of two creations at once', async (t) => {
  const { access, run } = await openAccess(t)
  const both = await Promise.all([run(named('a', 'Caf\u00e9')), run(named('b', 'Caf\u00e9'))])
  t.same(both, ['done', 'account-name-taken'])
  t.equal(await run(named('c', 'cafe\u0301')), 'account-name-taken', 'the case or the composition of characters')
  t.equal(await run(named('d', 'cafe')), 'done')
  t.equal(await run(named('e', 'Caf')), 'done', 'the start of a name is another name')
  t.same(
    access.accounts().map(({ account }) => account),
    ['a', 'd', 'e'],
  )
  t.equal(await run(deleteAccount('a')), 'done')
  t.equal(await run(named('f', 'CAF\u00c9')), 'done', 'the name is free again')
})

test('a store that has two accounts of one name starts, and is made again from its journal', async (t) => {
  const root = t.testdir()
  const first = await openTestStore(root)
  const text = { title: 'twice', description: '' }
  const changes = ['a', 'b'].map((account) => ({ name: 'account.created', account, ...text }) as const)
  // No command makes them any more; the engine records these changes as they are.
  const audit = auditOf('spec', '/spec')
  await first.client.execute({ kind: 'record-server-event', audit, changes } as unknown as Command)
  await first.close(true)
  const live = await dumpStore(first.paths)
  t.equal(live['account-titles']?.length, 2)
  rmSync(first.paths.projections, { recursive: true })
  const second = await openTestStore(root)
  const third = { ...createAccount('c'), title: 'twice' }
  for (const account of ['a', 'b']) {
    await t.rejects(second.client.execute(third), { code: 'account-name-taken' })
    await second.client.execute(deleteAccount(account))
  }
  await second.client.execute(third)
  await second.close(true)
})

test('what is not there', async (t) => {
  const { run } = await openAccess(t)
  await run(createAccount('a'))
  await run(createPolicy('p'))
  const refused: [command: Command, code: string][] = [
    [setAccountStatus('none', true), 'account-not-found'],
    [deleteAccount('none'), 'account-not-found'],
    [issueCredential('none', 'c'), 'account-not-found'],
    [setCredentialStatus('none', 'first of a', true), 'account-not-found'],
    [setCredentialStatus('a', 'none', true), 'credential-not-found'],
    [attachPolicy('none', 'a'), 'policy-not-found'],
    [attachPolicy('p', 'none'), 'account-not-found'],
    [detachPolicy('none', 'a'), 'policy-not-found'],
    [detachPolicy('p', 'none'), 'account-not-found'],
    [detachPolicy('p', 'a'), 'policy-not-attached'],
    [createPolicy('p'), 'policy-exists'],
    [replacePolicy('none'), 'policy-not-found'],
    [deletePolicy('none'), 'policy-not-found'],
    [revokeToken('none'), 'token-not-found'],
    [setAccountStatus('k'.repeat(300), true), 'account-not-found'],
    [setAccountStatus('', true), 'account-not-found'],
  ]
  for (const [command, code] of refused) t.equal(await run(command), code, `${command.kind}: ${code}`)
  await run(createAccount('b'))
  t.equal(await run(setCredentialStatus('a', 'first of b', false)), 'credential-not-found', 'it is of another account')
})

test('credentials that have expired make room, disabled ones when there is no other way', async (t) => {
  const { access, run } = await openAccess(t)
  await run(createAccount('a'))
  await run(issueCredential('a', 'expired', PAST))
  t.same(idsOf(access, 'a'), ['first of a', 'expired'])
  await run(issueCredential('a', 'temporary', FUTURE))
  await run(setCredentialStatus('a', 'first of a', false))
  await run(issueCredential('a', 'next'))
  t.same(idsOf(access, 'a'), ['first of a', 'expired', 'temporary', 'next'], 'all of them stay listed')
  for (let index = idsOf(access, 'a').length; index < CREDENTIALS_MAXIMUM; index += 1) {
    await run(issueCredential('a', `many ${index}`))
  }
  t.equal(idsOf(access, 'a').length, CREDENTIALS_MAXIMUM)
  t.equal(await run(issueCredential('a', 'in its place')), 'done')
  t.notOk(idsOf(access, 'a').includes('expired'), 'the expired one makes room first')
  t.equal(access.credential('expired-KEY'), undefined)
  t.equal(await run(issueCredential('a', 'first of b')), 'done')
  t.notOk(idsOf(access, 'a').includes('first of a'), 'then the disabled one')
  t.equal(await run(issueCredential('a', 'one too many')), 'too-many-credentials')
  await run(setCredentialStatus('a', 'next', false))
  await run(setCredentialStatus('a', 'temporary', false))
  t.equal(await run(issueCredential('a', 'room again')), 'done')
  t.same(idsOf(access, 'a').slice(0, 1), ['next'], 'the oldest one')
  t.equal(idsOf(access, 'a').length, CREDENTIALS_MAXIMUM)
})

test('policies attach once, and to so many', async (t) => {
  const { access, run } = await openAccess(t)
  await run(createAccount('a'))
  const policies = Array.from({ length: POLICIES_MAXIMUM + 1 }, (_, index) => `p${index}`)
  const statement = { effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] } as const
  for (const policy of policies) await run(createPolicy(policy, statement))
  t.same(access.policy('p0')?.statements, [statement])
  for (const policy of policies.slice(0, -1)) t.equal(await run(attachPolicy(policy, 'a')), 'done')
  t.equal(await run(attachPolicy('p100', 'a')), 'too-many-policies')
  t.equal(await run(attachPolicy('p7', 'a')), 'done', 'again is no more')
  t.same(access.account('a')?.policies, policies.slice(0, -1))
  t.equal(await run(detachPolicy('p7', 'a')), 'done')
  t.equal(await run(attachPolicy('p100', 'a')), 'done')
  t.equal(await run(deleteAccount('a')), 'done')
  t.ok(access.policy('p0'), 'a policy stays without accounts')
})

test('a policy is replaced where it is attached, and deleted only where it is not', async (t) => {
  const { access, run } = await openAccess(t)
  const read = { effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:*'] } as const
  const deny = { ...read, effect: 'deny' } as const
  await run(createPolicy('p', read))
  for (const account of ['a', 'b']) {
    await run(createAccount(account))
    await run(attachPolicy('p', account))
  }
  const version = access.version()
  t.equal(await run(replacePolicy('p', read)), 'done')
  t.equal(access.version(), version, 'the same again changes nothing')
  t.equal(await run({ ...replacePolicy('p', deny, read), title: 'another name' }), 'done')
  t.not(access.version(), version)
  t.match(access.policy('p'), { title: 'another name', statements: [deny, read] })
  t.equal(await run(deletePolicy('p')), 'policy-attached')
  await run(detachPolicy('p', 'a'))
  t.equal(await run(deletePolicy('p')), 'policy-attached', 'the other account has it')
  await run(deleteAccount('b'))
  t.equal(await run(deletePolicy('p')), 'done')
  t.equal(access.policy('p'), undefined)
  t.equal(await run(attachPolicy('p', 'a')), 'policy-not-found')
})

test('tokens are found by their digest until they are revoked', async (t) => {
  const { access, run } = await openAccess(t)
  t.equal(await run(issueToken('one', 'auditor', FUTURE)), 'done')
  t.equal(await run(issueToken('one', 'auditor')), 'token-exists')
  const found = access.tokenByDigest(digestOf(Buffer.from('one')))
  t.match(found, { token: 'one', role: 'auditor', expiresMicroseconds: FUTURE })
  t.equal(await run(revokeToken('one')), 'done')
  t.equal(access.tokenByDigest(digestOf(Buffer.from('one'))), undefined)
  t.same(access.tokens(), [])
})

test('the journal leads to the same rows', async (t) => {
  const root = t.testdir()
  const first = await openTestStore(root)
  const commands: Command[] = [
    createAccount('a'),
    createAccount('b'),
    issueCredential('a', 'expired', PAST),
    issueCredential('a', 'second', FUTURE),
    setCredentialStatus('a', 'second', false),
    createPolicy('p', { effect: 'deny', actions: ['s3:GetObject'], resources: ['bucket:a/\u0000é'] }),
    attachPolicy('p', 'a'),
    attachPolicy('p', 'b'),
    detachPolicy('p', 'b'),
    issueToken('one', 'storage-administrator'),
    issueToken('two', 'system-administrator'),
    revokeToken('one'),
    setAccountStatus('a', false),
    deleteAccount('b'),
  ]
  for (const command of commands) await first.client.execute(command)
  await first.close(true)
  const live = await dumpStore(first.paths)
  t.ok(live['accounts']?.length === 1 && live['credentials']?.length === 3 && live['tokens']?.length === 1)
  t.equal(live['deleted-names']?.length, 2)
  t.equal(live['deleted-credentials']?.length, 1)
  rmSync(first.paths.projections, { recursive: true })
  const second = await openTestStore(root)
  await second.close(true)
  const again = await dumpStore(first.paths)
  for (const table of [
    'accounts',
    'account-titles',
    'credentials',
    'policies',
    'tokens',
    'token-digests',
    'access-version',
    'deleted-names',
    'deleted-credentials',
    'deleted-tokens',
    'last-uses',
  ]) {
    t.same(again[table], live[table], table)
  }
})
