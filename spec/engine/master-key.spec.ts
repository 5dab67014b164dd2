/**
 * A master key that is changed: what opens before and after, who may start, and every crash on the way.
 * Proves: AUT-S3P-07.
 */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'tap'
import { sequenceOf } from '../../engine/brands.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { findKeys, writeKeyFile } from '../../engine/journal/key-file.ts'
import { CapabilityTokens } from '../../engine/links/capability-tokens.ts'
import { SecretBox } from '../../engine/keys/secret-box.ts'
import { PayloadSealer } from '../../engine/payloads/sealing.ts'
import { PasswordHashing } from '../../planes/exchange/password-hashing.ts'
import { keysOf } from '../../cli/access/access-keys.ts'
import { SimulatedDisk } from '../prove/simulated-disk/simulated-disk.ts'
import { nothingLands } from '../prove/simulated-disk/crash-choices.ts'
import { createAccount, setAccountStatus } from '../support/access-commands.ts'
import { createBucket } from '../support/commands.ts'
import { FaultDisk, inputOutputError } from '../support/disks/fault-disk.ts'
import { operationPoints } from '../support/disks/operation-points.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { flipBitInPlace } from '../support/journal-files.ts'
import { askStranger, verifyAtRest } from '../support/journals/journal-verdicts.ts'
import { rebuiltTables } from '../support/rebuilt-tables.ts'
import { strideOf } from '../support/share-of-cases.ts'
import { dumpStore, MASTER_KEY, openTestStore, OTHER_BOOT_ID, roomyDisk } from '../support/test-store.ts'

const SECOND = Buffer.alloc(32, 0x22)
const THIRD = Buffer.alloc(32, 0x33)
const TO_SECOND = { masterKey: SECOND, previousMasterKey: MASTER_KEY }

/** A store with an account, whose key was changed, with an account of after that. */
async function changedStore(root: string): Promise<StorePaths> {
  const store = await openTestStore(root)
  await store.client.execute(createBucket('bucket'))
  await store.client.execute(createAccount('early'))
  await store.close(true)
  const changed = await openTestStore(root, TO_SECOND)
  await changed.client.execute(createAccount('late'))
  await changed.close(true)
  return store.paths
}

function withoutProjections(paths: StorePaths): void {
  rmSync(paths.projections, { recursive: true, force: true })
}

test('a store gets the new key at a start with both, once, and keeps its projections', async (t) => {
  const root = t.testdir()
  const paths = await changedStore(root)
  const changes = () => journalEntries(root).filter(({ operation }) => operation === 'master-key.change')
  t.match(changes(), [{ principal: 'system:operator', changes: [{ name: 'master-key.changed' }, {}] }])
  const again = await openTestStore(root, TO_SECOND)
  t.match(again.report, { changedMasterKey: undefined, discardedProjections: undefined, replayedRecords: 0 })
  await again.close(true)
  const alone = await openTestStore(root, { masterKey: SECOND })
  t.match(alone.report, { discardedProjections: undefined, replayedRecords: 0 })
  await alone.close(true)
  t.equal(changes().length, 1)
  const rows = await dumpStore(paths)
  t.equal(rows['accounts']?.length, 2)
  t.same((await rebuiltTables(paths))['accounts'], rows['accounts'])
  withoutProjections(paths)
  const rebuilt = await openTestStore(root, { masterKey: SECOND })
  await rebuilt.close(true)
  t.same((await dumpStore(paths))['accounts'], rows['accounts'])
})

test('a start names the key that it was not given', async (t) => {
  const root = t.testdir()
  const fresh = await openTestStore(root)
  await fresh.close(true)
  const mismatch = { name: 'MasterKeyMismatchError' }
  const other = /not the one of this store: its id is [0-9a-f]{8}, that of the store's key [0-9a-f]{8}$/
  await t.rejects(openTestStore(root, { masterKey: THIRD }), { ...mismatch, message: other })
  await t.rejects(openTestStore(root, { masterKey: THIRD, previousMasterKey: SECOND }), { ...mismatch, message: other })
  const paths = await changedStore(join(root, 'changed'))
  const earlier = /an earlier one of this store: record \d+ changed it to the one with the id [0-9a-f]{8}$/
  for (const lost of [[], [paths.keys], [paths.keys, paths.projections], [paths.projections]]) {
    for (const path of lost) rmSync(path, { recursive: true })
    await t.rejects(openTestStore(paths.root, { masterKey: THIRD }), { ...mismatch, message: other }, String(lost))
    await t.rejects(openTestStore(paths.root), { ...mismatch, message: earlier }, String(lost))
    const backwards = { masterKey: MASTER_KEY, previousMasterKey: SECOND }
    await t.rejects(openTestStore(paths.root, backwards), { ...mismatch, message: earlier }, 'there is no way back')
    const right = await openTestStore(paths.root, { masterKey: SECOND })
    await right.close(true)
  }
})

test('what was sealed with each key opens with the last, and what clients hold is what it was', async (t) => {
  const root = t.testdir()
  const first = await openTestStore(root)
  await first.close(true)
  const { paths } = first
  const before = keysOf(roomyDisk, paths, MASTER_KEY)
  for (const key of [TO_SECOND, { masterKey: THIRD, previousMasterKey: SECOND }]) {
    const store = await openTestStore(root, key)
    await store.close(true)
  }
  const after = keysOf(roomyDisk, paths, THIRD)
  for (const same of ['versionIds', 'uploadIds', 'continuationTokens', 'capabilityDigests'] as const) {
    t.same(after[same], before[same], same)
  }
  for (const other of ['payloads', 'credentialSecrets', 'webhookSecrets', 'accessChanges', 'accessRows'] as const) {
    t.notSame(after[other], before[other], other)
  }
  t.equal(after.earlier.length, 2)
  t.same(after.earlier[1]?.payloads, before.payloads)
  const earlier = after.earlier.map(({ credentialSecrets }) => credentialSecrets)
  const sealed = new SecretBox(before.credentialSecrets).seal('secret', 'context')
  t.equal(new SecretBox(after.credentialSecrets, earlier).open(sealed, 'context'), 'secret')
  t.throws(() => new SecretBox(after.credentialSecrets).open(sealed, 'context'), { name: 'SecretBoxError' })
  const anew = new SecretBox(after.credentialSecrets, earlier).seal('secret', 'context')
  t.throws(
    () => new SecretBox(before.credentialSecrets, earlier).open(anew, 'context'),
    'the old key opens nothing new',
  )
  const link = new CapabilityTokens(before).create('share', 'id')
  const tokens = new CapabilityTokens(
    after,
    after.earlier.map(({ capabilityTokens }) => capabilityTokens),
  )
  t.equal(tokens.open('id', link.sealedToken), link.token)
  t.same(tokens.digest('share', link.token), link.digest)
  const record = await new PasswordHashing(before.capabilityPasswords).hash('password', 'a')
  const passwords = after.earlier.map(({ capabilityPasswords }) => capabilityPasswords)
  const hashing = new PasswordHashing(after.capabilityPasswords, passwords)
  t.equal(await hashing.matches('password', record, 'a'), true)
  t.equal(await hashing.matches('passwort', record, 'a'), false)
  t.equal(await hashing.matches('password', await hashing.hash('password', 'a'), 'a'), true)
})

test('payloads of both keys are read, in a volume and in a file, and damaged ones are not', async (t) => {
  const [old, young] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const both = new PayloadSealer(young, [old])
  const id = Buffer.alloc(14, 7)
  const text = Buffer.from('a small payload')
  const envelopes = [new PayloadSealer(old).seal(id, text), both.seal(id, text)]
  for (const at of [0, 1, 1, 0, 0]) t.same(both.open(Buffer.from(envelopes[at] as Buffer)), text)
  const broken = Buffer.from(envelopes[0] as Buffer)
  broken.writeUInt8(broken.readUInt8(20) ^ 1, 20)
  t.equal(both.open(broken), undefined)
  t.equal(new PayloadSealer(young).open(Buffer.from(envelopes[0] as Buffer)), undefined)
  const name = '00'.repeat(14)
  for (const writer of [new PayloadSealer(old), both]) {
    const cipher = writer.fileKey(name).cipher(3)
    const bytes = Buffer.concat([cipher.update(text), cipher.final()])
    const reader = both.fileKey(name)
    t.same(reader.decrypt(3, bytes, cipher.getAuthTag()), text)
    t.equal(reader.decrypt(4, bytes, cipher.getAuthTag()), undefined)
  }
})

test('verifiers follow the change, and say what an earlier key cannot check', async (t) => {
  const paths = await changedStore(t.testdir())
  const { journal } = paths
  t.match(await verifyAtRest(journal, { masterKey: SECOND }), { intact: true, problems: [], notes: [] })
  const early = await verifyAtRest(journal, { masterKey: MASTER_KEY })
  t.match(early, { intact: true, notes: [/^Access changes: 1 not checked, the master key is an earlier one/] })
  const stranger = await verifyAtRest(journal, { masterKey: THIRD })
  t.match(stranger, { intact: true, notes: [/^Access changes: 3 not checked, the master key is not that of this/] })
  t.match(askStranger(journal), [/intact/])
})

test('who has the earlier key alone can add nothing', async (t) => {
  const root = t.testdir()
  const paths = await changedStore(root)
  const { ring } = findKeys(roomyDisk, paths, SECOND)
  const [change] = ring.changes
  if (change === undefined) throw new Error('the key was not changed')
  // A key file that says that the earlier key still counts.
  const text = readFileSync(paths.keys, 'utf8')
  writeFileSync(paths.keys, text.replace(`"sequence":${change.sequence}`, `"sequence":${change.sequence + 1000}`))
  t.equal(findKeys(roomyDisk, paths, SECOND).ring.changes[0]?.sequence, change.sequence, 'the journal tells')
  writeFileSync(paths.keys, 'no key file')
  t.equal(findKeys(roomyDisk, paths, SECOND).ring.changes[0]?.sequence, change.sequence)
  const store = await openTestStore(root, { masterKey: SECOND })
  await store.close(true)
  t.equal(findKeys(roomyDisk, paths, SECOND).isRecorded, true, 'a start writes it anew')
})

test('a power cut at any operation of the change leaves a store that opens with both keys', async (t) => {
  const root = join(t.testdir(), 'store')
  const disk = new SimulatedDisk(root)
  const store = await openTestStore(root, {}, disk)
  await store.client.execute(createAccount('early'))
  await store.close(true)
  const durable = disk.crash(() => 1)
  const whole = durable.clone()
  withoutProjections(store.paths)
  const changed = await openTestStore(root, TO_SECOND, whole)
  await changed.close(true)
  const operations = whole.used
  t.ok(operations > 20)
  const found = new Set<string>()
  for (let operation = 1; operation <= operations; operation += strideOf(5)) {
    for (const decide of [nothingLands, () => 1]) {
      const cut = durable.clone()
      cut.left = operation
      withoutProjections(store.paths)
      await openTestStore(root, TO_SECOND, cut)
        .then((opened) => opened.close(true))
        .catch(() => undefined)
      const after = cut.crash(decide)
      withoutProjections(store.paths)
      const next = await openTestStore(root, TO_SECOND, after)
      found.add(next.report.changedMasterKey === undefined ? 'changed before' : 'changed now')
      await next.client.execute(setAccountStatus('early', false))
      await next.close(true)
      const changes = journalEntries(root, after).filter(({ operation: name }) => name === 'master-key.change')
      if (changes.length !== 1) t.fail(`${changes.length} changes after operation ${operation}`)
      withoutProjections(store.paths)
      const alone = await openTestStore(root, { masterKey: SECOND }, after)
      await alone.close(true)
    }
  }
  t.same([...found].toSorted(), ['changed before', 'changed now'])
})

test('after a crash in the middle of a change each key alone is told what it is', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root)
  await store.close(true)
  const { paths } = store
  // The key file says that a change may follow, and none does.
  const { ring } = findKeys(roomyDisk, paths, MASTER_KEY)
  writeKeyFile(roomyDisk, paths, ring, sequenceOf(store.journal.position.sequence + 1))
  await t.rejects(openTestStore(root, { masterKey: SECOND }), { name: 'MasterKeyMismatchError' })
  const back = await openTestStore(root)
  await back.close(true)
  // The change is in the journal, and the key file does not say so yet.
  const disk = new FaultDisk()
  let renames = 0
  disk.fault = ({ name, to }) => {
    renames += name === 'rename' && to === paths.keys ? 1 : 0
    return renames === 2 ? { kind: 'error', error: inputOutputError() } : undefined
  }
  await t.rejects(openTestStore(root, TO_SECOND, disk))
  disk.fault = () => undefined
  t.equal(renames, 2)
  await t.rejects(openTestStore(root), { name: 'MasterKeyMismatchError', message: /an earlier one/ })
  const changed = await openTestStore(root, { masterKey: SECOND, bootId: OTHER_BOOT_ID })
  await changed.close(true)
})

test('a journal that cannot be written ends the change with the reason', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root)
  await store.close(true)
  const disk = new FaultDisk()
  let pending = false
  disk.after = ({ name, to }) => {
    pending ||= name === 'rename' && to === store.paths.keys
  }
  disk.fault = ({ name, path }) =>
    pending && name === 'write' && path.endsWith('.segment') ? { kind: 'error', error: inputOutputError() } : undefined
  await t.rejects(openTestStore(root, TO_SECOND, disk), { name: 'JournalPoisonedError' })
  disk.fault = () => undefined
  const next = await openTestStore(root, TO_SECOND)
  t.match(next.report.changedMasterKey, /^[0-9a-f]{8}$/)
  await next.close(true)
})

test('a disk that fails at any operation of the change leaves a store that opens with both keys', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(join(root, 'base'))
  await store.close(true)
  const dry = new FaultDisk()
  cpSync(join(root, 'base'), join(root, 'dry'), { recursive: true })
  const whole = await openTestStore(join(root, 'dry'), TO_SECOND, dry)
  await whole.close(true)
  for (const failing of operationPoints(dry.operations, 5)) {
    const at = join(root, String(failing))
    cpSync(join(root, 'base'), at, { recursive: true })
    const disk = new FaultDisk()
    let operations = 0
    disk.fault = () => {
      operations += 1
      return operations === failing + 1 ? { kind: 'error', error: inputOutputError() } : undefined
    }
    const opened = await openTestStore(at, TO_SECOND, disk).catch(() => undefined)
    await opened?.close(opened.failures.length === 0).catch(() => undefined)
    const next = await openTestStore(at, TO_SECOND)
    await next.close(true)
    const changes = journalEntries(at).filter(({ operation }) => operation === 'master-key.change')
    if (changes.length !== 1) t.fail(`${changes.length} changes after operation ${failing}`)
    t.ok(!readdirSync(join(at, 'journal')).includes('keys-making'))
    rmSync(at, { recursive: true })
  }
})

test('a flipped bit anywhere in the key file never makes the right key a wrong one', async (t) => {
  const paths = await changedStore(t.testdir())
  const found = () => {
    const { changes } = findKeys(roomyDisk, paths, SECOND).ring
    return changes.map(({ sequence, check }) => `${sequence} ${Buffer.from(check).toString('hex')}`)
  }
  const expected = found()
  const wrong: string[] = []
  for (let bit = 0; bit < statSync(paths.keys).size * 8; bit += strideOf(31)) {
    flipBitInPlace(paths.keys, bit)
    try {
      if (!isDeepStrictEqual(found(), expected)) wrong.push(`${bit}: others`)
    } catch (error) {
      wrong.push(`${bit}: ${(error as Error).message}`)
    }
    flipBitInPlace(paths.keys, bit)
  }
  t.same(wrong, [])
})
