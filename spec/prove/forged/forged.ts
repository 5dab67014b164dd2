/** Proves: RES-CHN-07, EVT-AUD-02. */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { DecidableCommand } from '../../../engine/commands/commands.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type VerificationReport, verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { AccessReader } from '../../../projections/access/reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { entriesOf, writeForged } from '../../support/journals/forged-journal.ts'
import { MASTER_KEY, openTestStore, type TestStore } from '../../support/test-store.ts'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { accessEntries, FORGERIES, type Forgery } from './forgeries.ts'

/** Names of the errors by which a start may refuse. */
const CLEAR = new Set(['AccessForgedError', 'NewerFormatError'])

const AUDIT = {
  principal: 'management:system-administrator',
  credentialId: 't',
  sourceAddress: '127.0.0.1',
  requestId: 'request',
  operation: 'POST',
  resource: 'access',
  metadata: [],
}
/** Names of the errors of a start whose projections know another journal than there is. */
const OF_ANOTHER_JOURNAL = new Set(['AcknowledgedDataLostError', 'JournalDamagedError'])

/** A command without who asks. */
type Asked = DecidableCommand extends infer C ? (C extends DecidableCommand ? Omit<C, 'audit'> : never) : never

async function run(store: TestStore, command: Asked): Promise<void> {
  await store.client.execute({ ...command, audit: AUDIT } as DecidableCommand)
}

/** A store with everything that a forger would like to have. */
async function makeStore(root: string): Promise<void> {
  const store = await openTestStore(root)
  const forever = { expiresMicroseconds: undefined }
  await run(store, { kind: 'create-bucket', bucket: 'bucket', region: 'eu', lockEnabled: false })
  const account = { account: 'a', title: 'a', description: '' }
  await run(store, {
    kind: 'create-account',
    ...account,
    credential: 'c1',
    accessKey: 'K1',
    sealedSecret: Buffer.alloc(40, 1),
  })
  await run(store, {
    kind: 'issue-credential',
    account: 'a',
    credential: 'c2',
    accessKey: 'K2',
    sealedSecret: Buffer.alloc(40, 2),
    ...forever,
  })
  const statements = [{ effect: 'deny', actions: ['s3:*'], resources: ['bucket:*'] }] as const
  await run(store, { kind: 'create-policy', policy: 'p', title: 'p', statements })
  await run(store, { kind: 'create-policy', policy: 'q', title: 'q', statements })
  await run(store, { kind: 'delete-policy', policy: 'q' })
  await run(store, { kind: 'attach-policy', policy: 'p', account: 'a' })
  await run(store, { kind: 'detach-policy', policy: 'p', account: 'a' })
  await run(store, { kind: 'attach-policy', policy: 'p', account: 'a' })
  const token = (name: string, value: number) =>
    run(store, {
      kind: 'issue-token',
      token: name,
      title: name,
      role: 'auditor',
      digest: Buffer.alloc(32, value),
      ...forever,
    })
  await token('revoked', 1)
  await run(store, { kind: 'revoke-token', token: 'revoked' })
  await token('auditor', 2)
  await store.close(true)
}

/** Who may do what, by the projections. */
async function accessOf(paths: StorePaths): Promise<unknown> {
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    const access = new AccessReader(environment)
    const accounts = access.accounts()
    const keys = accounts.flatMap(({ credentials }) => credentials.map(({ accessKey }) => accessKey))
    const digests = [...environment.table('token-digests').rows({})].map(
      ({ key, value }) => `${key.toString('hex')} ${value.toString()}`,
    )
    return {
      accounts,
      credentials: keys.map((key) => access.credential(key)),
      policies: access.policies(),
      tokens: access.tokens(),
      digests,
    }
  } finally {
    await environment.close()
  }
}

/** What is wrong after a forgery; nothing when nobody was let in and everything said so, in cold segments too. */
export async function tryForgery(genuine: string, directory: string, forgery: Forgery): Promise<string[]> {
  const wrong = await tryOnce(genuine, directory, forgery)
  if (forgery.verdict === undefined) return wrong
  const inCold: Forgery = {
    ...forgery,
    name: `${forgery.name}, compressed`,
    forge: async (paths) => {
      await forgery.forge(paths)
      writeForged(paths, entriesOf(paths), true)
    },
  }
  return [...wrong, ...(await tryOnce(genuine, directory, inCold))]
}

function verdictsOf({ problems, newer }: VerificationReport): ReadonlySet<string> {
  return new Set([...problems.map(({ verdict }) => verdict), ...newer.map(() => 'newer than this verifier')])
}

async function tryOnce(genuine: string, directory: string, { name, verdict, forge }: Forgery): Promise<string[]> {
  const paths = new StorePaths(join(directory, 'store'))
  const canary = join(directory, 'canary')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  cpSync(genuine, paths.root, { recursive: true })
  writeFileSync(canary, 'a file of somebody else')
  const expected = await accessOf(paths)
  await forge(paths)
  const wrong: string[] = []
  const report = await verifyJournal(paths.journal, { threads: 0, masterKey: MASTER_KEY, settleMilliseconds: 0 })
  const named = verdict === undefined ? report.intact : verdictsOf(report).has(verdict)
  if (!named) wrong.push(`journal verify says ${JSON.stringify(report.problems)}`)
  // With the projections as they were, and without any.
  for (const kept of [true, false]) {
    if (!kept) rmSync(paths.projections, { recursive: true, force: true })
    try {
      const store = await openTestStore(paths.root)
      await store.close(true)
      if (verdict !== undefined && !kept) wrong.push('a store with a forged journal opens')
      if (!isDeepStrictEqual(await accessOf(paths), expected)) wrong.push('somebody was let in or shut out')
    } catch (error) {
      const { name: thrown, message } = error as Error
      // Projections that were left know the journal that there was before.
      const isClear = CLEAR.has(thrown) || (kept && OF_ANOTHER_JOURNAL.has(thrown))
      if (verdict === undefined || !isClear) wrong.push(`the start ends with ${thrown}: ${message}`)
    }
  }
  if (!existsSync(canary)) wrong.push('a file outside of the store is gone')
  return wrong.map((one) => `${name}: ${one}`)
}

/** Makes the genuine store that is forged. */
export async function genuineStore(directory: string): Promise<string> {
  const root = join(directory, 'genuine')
  mkdirSync(root, { recursive: true })
  await makeStore(root)
  if (accessEntries(new StorePaths(root)) < 9) throw new Error('the store has not enough to forge')
  return root
}

async function prove({ amount, directory, say }: ProofTask): Promise<ProofResult> {
  const genuine = await genuineStore(directory)
  let tried = 0
  let wrong = 0
  for (let cycle = 0; cycle < amount; cycle += 1) {
    for (const forgery of FORGERIES) {
      tried += forgery.verdict === undefined ? 1 : 2
      for (const line of await tryForgery(genuine, join(directory, 'forged'), forgery)) {
        wrong += 1
        say(line)
      }
    }
  }
  return { summary: `${tried} forgeries, ${wrong} wrong`, passed: wrong === 0 && tried > 0 }
}

/** Nobody without the master key gives access. */
export const forged: Proof = {
  name: 'forged',
  tries: 'journals with right hashes, and projections, that somebody without the master key wrote',
  unit: 'cycles',
  amount: 1,
  run: prove,
}
