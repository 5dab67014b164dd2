/**
 * Shares and embeds in the journal and in the tables.
 * Proves: EVT-AUD-09.
 */
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import { type BucketId, bucketIdOf, microsecondsOf, millisecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { Command } from '../../engine/commands/commands.ts'
import { LINKS_OF_KEY_MAXIMUM } from '../../engine/links/rules.ts'
import { statusOfEmbed, statusOfShare } from '../../engine/links/state.ts'
import { DomainError } from '../../engine/errors.ts'
import { CapabilityTokens } from '../../engine/links/capability-tokens.ts'
import { findTarget } from '../../planes/objects/find-object.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { createBucket, deleteBucket, deleteObject, digestOf, write } from '../support/commands.ts'
import { journalEntries } from '../support/journal-entries.ts'
import {
  countDownload,
  createEmbed,
  createShare,
  deleteEmbed,
  deleteShare,
  revokeEmbed,
  revokeShare,
  updateEmbed,
} from '../support/sharing-commands.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { dumpStore, openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'
import { setVersioning } from '../support/version-commands.ts'

const NOW = 1_767_323_045_000

type Snapshot = ReturnType<TestStore['catalog']['snapshot']>

function photosOf(snapshot: Snapshot): BucketId {
  return bucketIdOf(snapshot.bucket('photos')?.id ?? 0)
}

async function runOn({ client }: TestStore, command: Command): Promise<string> {
  try {
    await client.execute(command)
    return 'done'
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

/** A store with the object photos/cat.jpg. Its clock is `clock.milliseconds`. */
async function openShares(t: Test) {
  const root = temporaryDirectory()
  const clock = { milliseconds: NOW }
  const open = () => openTestStore(root, { clock: () => clock.milliseconds * 1000 })
  const opened = { store: await open() }
  const run = (command: Command) => runOn(opened.store, command)
  /** Closes the store, or ends it as a kill does, and opens it again. */
  const reopen = async (healthy: boolean, projections: 'kept' | 'removed' = 'kept') => {
    await opened.store.close(healthy)
    if (projections === 'removed') rmSync(opened.store.paths.projections, { recursive: true })
    opened.store = await open()
  }
  t.teardown(async () => {
    await opened.store.close(true)
    const { differences } = await checkProjections(roomyDisk, opened.store.paths)
    if (differences.length > 0) throw new Error(`a rebuild gives other rows: ${JSON.stringify(differences)}`)
    rmSync(root, { recursive: true })
  })
  await run(createBucket('photos'))
  await run(write('photos', 'cat.jpg', Buffer.from('a cat')))
  const snapshot = () => opened.store.catalog.snapshot()
  const share = (id: string) => snapshot().share(id)
  const statusOf = (id: string) => {
    const found = share(id)
    return found && statusOfShare(found, millisecondsOf(clock.milliseconds))
  }
  return { clock, opened, reopen, root, run, share, snapshot, statusOf }
}

test('a share from its creation to its deletion', async (t) => {
  const { run, share, snapshot, statusOf } = await openShares(t)
  t.equal(await run(createShare('a', { fileName: 'Katze.jpg' })), 'done')
  t.equal(await run(createShare('a')), 'share-exists')
  t.match(share('a'), { key: 'cat.jpg', version: undefined, fileName: 'Katze.jpg', downloads: 0 })
  t.equal(snapshot().findShare(digestOf(Buffer.from('a')))?.share, 'a')
  t.equal(snapshot().findEmbed(digestOf(Buffer.from('a'))), undefined, 'a share is no embed')
  t.equal(statusOf('a'), 'active')
  t.equal(await run(revokeShare('a')), 'done')
  const revoked = share('a')?.revokedMicroseconds
  t.equal(await run(revokeShare('a')), 'done')
  t.equal(share('a')?.revokedMicroseconds, revoked, 'revoked once')
  t.equal(statusOf('a'), 'revoked')
  t.equal(await run(deleteShare('a')), 'done')
  t.equal(share('a'), undefined)
  t.equal(snapshot().findShare(digestOf(Buffer.from('a'))), undefined)
  t.same(snapshot().sharesOfKey(photosOf(snapshot()), 'cat.jpg', 10), [])
  for (const command of [revokeShare('a'), deleteShare('a'), countDownload('a')]) {
    t.equal(await run(command), 'share-not-found', command.kind)
  }
})

test('an embed from its creation to its deletion', async (t) => {
  const { clock, run, snapshot } = await openShares(t)
  const embed = () => snapshot().embed('e')
  const status = () => {
    const found = embed()
    return found && statusOfEmbed(found, millisecondsOf(clock.milliseconds))
  }
  t.equal(await run(createEmbed('e')), 'done')
  t.equal(await run(createEmbed('e')), 'embed-exists')
  t.match(snapshot().findEmbed(digestOf(Buffer.from('e'))), { embed: 'e', allowedOrigins: ['https://a.example'] })
  const expiresMicroseconds = microsecondsOf((NOW + 5000) * 1000)
  t.equal(await run(updateEmbed('e', { expiry: { expiresMicroseconds } })), 'done')
  t.match(embed(), { allowedOrigins: ['*'], cacheSeconds: 0, expiresMicroseconds })
  t.equal(status(), 'active')
  clock.milliseconds = NOW + 5000
  t.equal(status(), 'expired', 'at the moment of its expiry')
  t.equal(await run(updateEmbed('e', { allowedOrigins: ['https://b.example'], cacheSeconds: undefined })), 'done')
  t.match(embed(), { allowedOrigins: ['https://b.example'], cacheSeconds: 0, expiresMicroseconds }, 'the rest stays')
  t.equal(status(), 'expired')
  const never = { expiresMicroseconds: undefined }
  t.equal(await run(updateEmbed('e', { expiry: never })), 'done')
  t.equal(status(), 'active', 'an embed that has expired can be given more time')
  t.equal(await run(revokeEmbed('e')), 'done')
  t.equal(await run(updateEmbed('e')), 'embed-revoked')
  t.equal(status(), 'revoked')
  t.equal(await run(deleteEmbed('e')), 'done')
  for (const command of [updateEmbed('e'), revokeEmbed('e'), deleteEmbed('e')]) {
    t.equal(await run(command), 'embed-not-found', command.kind)
  }
})

test('a link needs its target, and follows it or one version of it', async (t) => {
  const { run, share, snapshot } = await openShares(t)
  const target = (id: string) => {
    const now = snapshot()
    const found = now.share(id)
    return found && findTarget(now, found)?.object.size
  }
  t.equal(await run(createShare('a', { bucket: 'none' })), 'bucket-not-found')
  t.equal(await run(createShare('a', { key: 'dog.jpg' })), 'object-not-found')
  t.equal(await run(createEmbed('e', { key: 'dog.jpg' })), 'object-not-found')
  t.equal(await run(createShare('a', { version: sequenceOf(9) })), 'version-not-found')
  t.equal(await run(createShare('current')), 'done')
  t.equal(await run(createShare('null', { version: 'null' })), 'done')
  await run(write('photos', 'cat.jpg', Buffer.from('another cat')))
  t.equal(target('current'), 11)
  t.equal(target('null'), undefined, 'what was written over it has the same id and is another version')
  await run(setVersioning('photos', 'enabled'))
  await run(write('photos', 'cat.jpg', Buffer.from('3')))
  const version = sequenceOf(snapshot().object(photosOf(snapshot()), 'cat.jpg')?.sequence ?? 0)
  t.equal(await run(createShare('pinned', { version })), 'done')
  t.same(share('pinned')?.version, { sequence: version, isNull: false })
  await run(deleteObject('photos', 'cat.jpg'))
  t.equal(target('current'), undefined, 'hidden by a delete marker')
  t.equal(target('pinned'), 1)
  const marker = sequenceOf(snapshot().newestVersion(photosOf(snapshot()), 'cat.jpg')?.sequence ?? 0)
  t.equal(await run(createShare('b', { version: marker })), 'version-is-marker')
})

test('a bucket that is created again has none of the links of the one before', async (t) => {
  const { run, snapshot } = await openShares(t)
  await run(createShare('a'))
  await run(deleteObject('photos', 'cat.jpg'))
  await run(deleteBucket('photos'))
  await run(createBucket('photos'))
  await run(write('photos', 'cat.jpg', Buffer.from('not for you')))
  const now = snapshot()
  const before = now.share('a')
  t.ok(before, 'the share itself is kept')
  t.equal(before && findTarget(now, before), undefined)
  t.same(now.sharesOfKey(photosOf(now), 'cat.jpg', 10), [])
  t.equal(await run(createShare('b')), 'done')
})

test('of the downloads of a share, as many succeed as it has, also after a kill', async (t) => {
  const { clock, reopen, run, share, statusOf } = await openShares(t)
  await run(createShare('a', { maximumDownloads: 5, expiresMicroseconds: microsecondsOf((NOW + 5000) * 1000) }))
  const [first, second] = await Promise.all([run(countDownload('a')), run(countDownload('a'))])
  t.same([first, second], ['done', 'done'])
  await reopen(false)
  t.equal(share('a')?.downloads, 2)
  const rest = await Promise.all(Array.from({ length: 10 }, () => run(countDownload('a'))))
  t.same(rest.toSorted(), [...Array(3).fill('done'), ...Array(7).fill('share-exhausted')])
  t.equal(statusOf('a'), 'exhausted')
  await reopen(false, 'removed')
  t.equal(statusOf('a'), 'exhausted')
  clock.milliseconds = NOW + 5000
  t.equal(await run(countDownload('a')), 'share-expired', 'what has expired is not exhausted')
  await run(revokeShare('a'))
  t.equal(await run(countDownload('a')), 'share-revoked')
})

/** The row that says when credentials were changed. */
function versionIn({ 'access-version': rows = [] }: Record<string, string[]>): string[] {
  return rows.filter((row) => row.startsWith(Buffer.from('version').toString('hex')))
}

test('a count is one record, without an attempt, and changes nothing of credentials', async (t) => {
  const { opened, root, run } = await openShares(t)
  await run(createShare('a', { maximumDownloads: 1 }))
  const before = await dumpStore(opened.store.paths)
  await run(countDownload('a'))
  await opened.store.loop.drained()
  const records = journalEntries(root).filter(({ operation }) => operation === 'share.downloaded')
  t.match(records, [{ result: 'success', intent: undefined, principal: 'system:sharing' }])
  t.equal(records.length, 1)
  t.same(versionIn(await dumpStore(opened.store.paths)), versionIn(before))
})

test('a key has a bounded number of links', async (t) => {
  const { run } = await openShares(t)
  await run(write('photos', 'cat.jpg2', Buffer.from('another')))
  for (let count = 0; count < LINKS_OF_KEY_MAXIMUM; count += 1) {
    await run(createShare(`s${count}`))
    await run(createEmbed(`e${count}`))
  }
  t.equal(await run(createShare('one-more')), 'too-many-shares')
  t.equal(await run(createEmbed('one-more')), 'too-many-embeds')
  t.equal(await run(createShare('of another key', { key: 'cat.jpg2' })), 'done')
  await run(deleteShare('s7'))
  t.equal(await run(createShare('one-more')), 'done')
})

test('the tables after a restart, a kill and a replay are the same', async (t) => {
  const { opened, reopen, run } = await openShares(t)
  await run(createShare('a', { maximumDownloads: 3 }))
  await run(createShare('b'))
  await run(createEmbed('e'))
  await run(createEmbed('f'))
  await run(countDownload('a'))
  await run(revokeShare('b'))
  await run(updateEmbed('e'))
  await run(deleteEmbed('f'))
  const names = ['shares', 'share-digests', 'share-targets', 'embeds', 'embed-digests', 'embed-targets']
  const rows = async () => {
    const all = await dumpStore(opened.store.paths)
    return names.map((name) => all[name])
  }
  const before = await rows()
  t.same(
    before.map((table) => table?.length),
    [2, 2, 2, 1, 1, 1],
  )
  for (const healthy of [true, false]) {
    await reopen(healthy)
    t.same(await rows(), before, `healthy: ${healthy}`)
  }
  await reopen(true, 'removed')
  t.same(await rows(), before, 'without projections')
})

test('a token is found by a keyed digest of its kind, and opened for its id alone', async (t) => {
  const keys = { capabilityDigests: Buffer.alloc(32, 1), capabilityTokens: Buffer.alloc(32, 2) }
  const tokens = new CapabilityTokens(keys)
  const { token, digest, sealedToken } = tokens.create('share', 'shr-a')
  t.match(token, /^[\w-]{43}$/)
  t.same(tokens.digest('share', token), digest)
  t.not(Buffer.compare(tokens.digest('embed', token) as Uint8Array, digest), 0)
  const others = new CapabilityTokens({ ...keys, capabilityDigests: Buffer.alloc(32, 3) })
  t.not(Buffer.compare(others.digest('share', token) as Uint8Array, digest), 0)
  t.equal(tokens.open('shr-a', sealedToken), token)
  t.throws(() => tokens.open('shr-b', sealedToken))
  t.notOk(Buffer.from(sealedToken).includes(token))
  for (const text of [
    '',
    token.slice(1),
    `${token}A`,
    `${token.slice(0, -1)}B`,
    `${token.slice(0, -1)}=`,
    `é${token}`,
  ]) {
    t.equal(tokens.digest('share', text), undefined, text)
  }
})
