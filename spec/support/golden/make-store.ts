/**
 * Makes a golden store: `node build/spec/support/golden/make-store.js DIRECTORY`. It was run once, by the build of 1.0.0. A
 * golden store is never made again: another release adds one, and the kinds of change that are new in it.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { CheckpointKeys } from '../../../engine/checkpoints/checkpoint-keys.ts'
import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { CHANGES } from '../../../engine/events/changes.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { keysOf } from '../../../cli/access/access-keys.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import * as access from '../access-commands.ts'
import * as objects from '../commands.ts'
import { compressJournal } from '../journals/cold-segments.ts'
import { signingOf } from '../checkpoint-signing.ts'
import { createRule, deleteRule, runPass } from '../lifecycle.ts'
import { startManaged } from '../management-server.ts'
import { OtherLog } from '../other-log.ts'
import * as links from '../sharing-commands.ts'
import { snapshotOf } from '../snapshots.ts'
import { openTestStore, storeFile, type TestStore } from '../test-store.ts'
import * as uploads from '../upload-commands.ts'
import * as versions from '../version-commands.ts'
import * as webhooks from '../webhooks/webhook-commands.ts'
import { removeDerived } from './make-golden.ts'
import { FIRST_KEY, goldenAnswers, GOLDEN_KEY, kindsIn, SETTINGS, startGolden } from './golden-store.ts'

const DAY = 86_400_000_000
const SYSTEM = systemAudit('server', 'golden', 'server')

class Maker {
  clock = Date.UTC(2026, 10, 1) * 1000
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  async life(live: (store: TestStore, send: (command: object) => Promise<number>) => Promise<void>, keys = {}) {
    const clock = () => (this.clock += 1000)
    const store = await openTestStore(this.root, { ...SETTINGS, ...keys, clock })
    await live(store, async (command) => {
      const asked = command as Command
      const done = await store.client.execute(asked).catch((error: unknown) => {
        throw new Error(`${asked.kind} failed`, { cause: error })
      })
      return (done as { readonly sequence: number }).sequence
    })
    await store.close(true)
    if (store.failures.length > 0) throw store.failures[0]
  }
}

const text = (words: string) => Buffer.from(words)
const FILLERS = ['f1', 'f2', 'f3', 'f4'] as const
const LARGE = Buffer.alloc(70_000, 'a large object. ')

async function objectsAndVersions(store: TestStore, send: (command: object) => Promise<number>): Promise<void> {
  await send(objects.createBucket('photos'))
  await send(objects.createBucket('gone'))
  await send(objects.deleteBucket('gone'))
  await send(objects.createBucket('versions'))
  await send(versions.setVersioning('versions', 'enabled'))
  await send({ ...objects.createBucket('locked'), lockEnabled: true })
  await send(versions.setDefaultRetention('locked', { mode: 'GOVERNANCE', unit: 'days', value: 36_500 }))
  const cors = { id: 'rule', origins: ['*'], methods: ['GET'], headers: ['*'], exposed: ['etag'], maxAgeSeconds: 60 }
  await send(versions.setCors('photos', [cors]))
  await send(versions.setQuota('photos', { bytes: 1_000_000, objects: 100 }))
  const cat = await send(objects.write('photos', 'cat.jpg', text('a cat')))
  await send({ ...objects.write('photos', 'ä/ü €😀', text('names')), metadata: ['colour', 'red'] })
  await send(objects.write('photos', 'empty', text('')))
  await send(objects.writeFile('photos', 'large', LARGE, await storeFile(store, LARGE)))
  await send(
    objects.copyObject({ bucket: 'photos', key: 'cat.jpg', sequence: cat }, { bucket: 'versions', key: 'copy' }),
  )
  const old = await send(objects.write('photos', 'old', text('renamed')))
  await send(objects.renameObject('photos', 'old', 'new', old, 'token-1'))
  await send(objects.write('photos', 'log', text('one ')))
  await send(objects.appendObject('photos', 'log', 4, text('two')))
  await send(objects.write('photos', 'deleted', text('x')))
  await send(objects.deleteObject('photos', 'deleted'))
  for (const words of ['first', 'second', 'third']) await send(objects.write('versions', 'key', text(words)))
  const snapshot = store.catalog.snapshot()
  const bucket = snapshot.bucket('versions')
  const third = bucket === undefined ? undefined : snapshot.object(bucket.id, 'key')
  await send(versions.deleteVersion('versions', 'key', third?.sequence as number))
  await send(objects.deleteObject('versions', 'key'))
  await send(objects.write('versions', 'back', text('back')))
  await send(versions.setVersioning('versions', 'suspended'))
  await send(objects.write('versions', 'null', text('null')))
  await send(objects.write('locked', 'held', text('held')))
  await send(versions.setLegalHold('locked', 'held', true))
  const untilMilliseconds = Date.UTC(2200, 0)
  await send(versions.setRetention('locked', 'held', { mode: 'COMPLIANCE', untilMilliseconds }))
  const named = async (key: string, more = {}) => {
    const upload = await send({ ...uploads.createUpload('photos', key), ...more })
    return { bucket: 'photos', key, upload }
  }
  const whole = await named('parts', { checksum: { algorithm: 'sha256', composite: true } })
  const part = text('the only part')
  const checksum = { algorithm: 'sha256', value: objects.digestOf(part), composite: false }
  await send({ ...uploads.writePart(whole, 1, part), checksum })
  await send(uploads.completeUpload(whole, [{ part: 1, etag: objects.md5Of(part) }]))
  await send(uploads.recordDigest(whole.upload, objects.digestOf(part)))
  const aborted = await named('aborted')
  await send(uploads.writePart(aborted, 2, part))
  await send(uploads.abortUpload(aborted))
  const left = await named('left')
  await send(uploads.writePart(left, 7, part))
}

async function identities(_: TestStore, send: (command: object) => Promise<number>): Promise<void> {
  const read = { effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:photos/*'] } as const
  await send(access.createAccount('reader'))
  await send(access.createAccount('other'))
  await send(access.setAccountStatus('other', false))
  await send(access.deleteAccount('other'))
  await send(access.issueCredential('reader', 'second'))
  await send(access.setCredentialStatus('reader', 'second', false))
  // The one that is disabled makes room for the last.
  for (let more = 3; more <= 101; more += 1) await send(access.issueCredential('reader', `credential ${more}`))
  await send(access.createPolicy('reading', read))
  await send(access.replacePolicy('reading', read, { ...read, effect: 'deny', resources: ['bucket:photos/log'] }))
  await send(access.createPolicy('unused', read))
  await send(access.attachPolicy('unused', 'reader'))
  await send(access.detachPolicy('unused', 'reader'))
  await send(access.deletePolicy('unused'))
  await send(access.attachPolicy('reading', 'reader'))
  await send(access.issueToken('an auditor', 'auditor'))
  await send(access.issueToken('revoked', 'storage-administrator'))
  await send(access.revokeToken('revoked'))
}

async function sharing(_: TestStore, send: (command: object) => Promise<number>): Promise<void> {
  await send(links.createShare('s1', { maximumDownloads: 3, fileName: 'Katze.jpg' }))
  await send(links.countDownload('s1'))
  await send(links.createShare('s2'))
  await send(links.revokeShare('s2'))
  await send(links.createShare('s3'))
  await send(links.deleteShare('s3'))
  for (const embed of ['e1', 'e2', 'e3']) await send(links.createEmbed(embed))
  await send(links.updateEmbed('e1'))
  await send(links.revokeEmbed('e2'))
  await send(links.deleteEmbed('e3'))
  const start = await send(webhooks.createWebhook('w1', { prefix: undefined }))
  await send(webhooks.createWebhook('w2', { prefix: undefined }))
  await send(webhooks.setWebhookStatus('w2', false))
  await send(webhooks.createWebhook('w3'))
  await send(webhooks.deleteWebhook('w3'))
  await send(webhooks.rotateSecret('w1'))
  await send(webhooks.recordTest('w1'))
  await send(webhooks.replayWebhook('w1'))
  const written = await send(objects.write('photos', 'told', text('of by webhooks')))
  const report = (attempt: number) =>
    webhooks.reportOf('w1', sequenceOf(start), written, { attempts: [webhooks.attemptOf(written, attempt)] })
  await send(webhooks.recordDeliveries(report(1)))
  await send(webhooks.setWebhookStatus('w1', false))
  await send(webhooks.recordDeliveries(report(2)))
  await send(webhooks.setWebhookStatus('w1', true))
}

/** What the store's own workers do, and what befell it. */
async function work(store: TestStore, send: (command: object) => Promise<number>, made: Maker): Promise<void> {
  await send(createRule('photos', 'r1', { prefix: 'old-', expirationDays: 1 }))
  await send(createRule('locked', 'r2', { expirationDays: 1, noncurrentDays: 1 }))
  await send(createRule('versions', 'r3', { prefix: 'x', noncurrentDays: 9 }))
  await send(deleteRule('r3'))
  await send(objects.write('photos', 'old-1', text('expires')))
  await send(objects.write('locked', 'held', text('the held one is noncurrent')))
  made.clock += 3 * DAY
  await runPass(store, { now: made.clock / 1000 })
  await send({ kind: 'record-server-event', audit: SYSTEM, changes: [{ name: 'clock.observed' }] })
  const snapshot = store.catalog.snapshot()
  const bucket = snapshot.bucket('photos')
  const cat = bucket && snapshot.object(bucket.id, 'cat.jpg')
  const location = cat?.payload === undefined ? undefined : snapshot.payload(cat.payload)
  if (cat?.payload === undefined || location?.kind !== 'volume') throw new Error('the cat is not in a volume')
  await send(uploads.movePayloads([uploads.moveOf(store, cat.payload, location)]))
  for (const key of FILLERS) await send(objects.deleteObject('temporary', key))
  await send(uploads.removeVolume(0))
  await send({ kind: 'begin-scrub', audit: SYSTEM })
  const progress = store.catalog.snapshot().scrub()?.progress
  await send({
    kind: 'record-scrub',
    audit: SYSTEM,
    progress: { ...progress, stage: 'over', payloads: 5, segments: 1, bytes: 7000, damaged: 1 },
    damage: [{ kind: 'segment', number: 0, reason: 'as if it were damaged', objects: [] }],
  })
  const cut = { segment: 0, offset: 256, length: 16, digest: Buffer.alloc(32, 1), refused: false }
  const changes = [{ name: 'journal.recovered', ...cut }]
  await send({ kind: 'record-server-event', audit: SYSTEM, changes })
  const restored = { last: sequenceOf(5), head: Buffer.alloc(32, 2) }
  const times = { backedUp: microsecondsOf(1), restored: microsecondsOf(2) }
  await send({
    kind: 'record-server-event',
    audit: SYSTEM,
    changes: [{ name: 'journal.restored', ...restored, ...times }],
  })
}

async function checkpoints(store: TestStore, send: (command: object) => Promise<number>, made: Maker): Promise<void> {
  const keys = new CheckpointKeys(keysOf(nodeDisk, store.paths, GOLDEN_KEY))
  let withheld = false
  const signing = signingOf(store, {
    name: 'golden.log',
    keys,
    clock: () => made.clock / 1000,
    withholds: () => withheld,
  })
  const sign = async (): Promise<CheckpointState> => {
    made.clock += 3_600_000_000
    await send(objects.write('photos', 'signed', text(`signed ${made.clock}`)))
    await signing.settle()
    return signing.reader.state().last as CheckpointState
  }
  const first = await sign()
  const receipt = {
    kind: 'rfc3161',
    giver: 'https://tsa.example/',
    receipt: Buffer.alloc(100, 7),
    assertedMicroseconds: undefined,
  }
  await send({ kind: 'record-receipt', audit: SYSTEM, receipt: { size: first.size, ...receipt } })
  withheld = true
  const second = await sign()
  await send({ kind: 'publish-checkpoint', audit: SYSTEM, size: second.size })
  withheld = false
  const { last, handover } = signing.reader.state()
  const handed = keys.handOver({ last: last as CheckpointState, handover })
  await send({ kind: 'rotate-checkpoint-key', audit: SYSTEM, handover: handed })
  await sign()
  const other = new OtherLog('other.example/log')
  const cosigned = {
    origin: other.origin,
    size: 9,
    root: other.root(9),
    publicKey: other.key.publicKey,
    seconds: 1_795_000_000,
  }
  await send({ kind: 'cosign-checkpoint', audit: SYSTEM, cosigned, after: 0 })
  await signing.close()
}

/** Records with two times, and an order time that was set back. */
async function wrongClock(_: TestStore, send: (command: object) => Promise<number>, made: Maker): Promise<void> {
  made.clock += DAY
  await send(objects.write('photos', 'ahead', text('a day')))
  made.clock -= DAY
  await send(objects.write('photos', 'right', text('again')))
  await send({ kind: 'set-clock-back', audit: SYSTEM, reason: 'the clock was a day ahead' })
  await send(objects.write('photos', 'after', text('set back')))
}

/** Objects whose bytes are encrypted, over the wire. */
async function encrypted(made: Maker): Promise<void> {
  const clock = () => (made.clock += 1000) / 1000
  const { segmentBytes, volumeBytes } = SETTINGS
  const sizes = { segmentBytes, volumeBytes, masterKey: GOLDEN_KEY, encryptionEnabled: true }
  const server = await startManaged({ dataDirectory: made.root, ...sizes, clock })
  for (const [key, body] of [
    ['sealed', 'a secret'],
    ['sealed-large', LARGE],
  ] as const) {
    const { status, text: said } = await server.wire.send('PUT', `/photos/${key}`, { body })
    if (status !== 200) throw new Error(said)
  }
  await server.stop()
}

async function makeStore(root: string): Promise<void> {
  const made = new Maker(root)
  const first = { masterKey: FIRST_KEY }
  await made.life(async (store, send) => {
    await send(objects.createBucket('temporary'))
    // The last one begins the second volume.
    for (const key of FILLERS) await send(objects.write('temporary', key, Buffer.alloc(20_000, 'filler. ')))
    await objectsAndVersions(store, send)
    await identities(store, send)
    await sharing(store, send)
  }, first)
  await made.life(async () => undefined, { previousMasterKey: FIRST_KEY })
  await made.life(async (store, send) => {
    await work(store, send, made)
    await checkpoints(store, send, made)
  })
  await made.life((store, send) => wrongClock(store, send, made))
  await encrypted(made)
}

async function main(target: string): Promise<void> {
  if (existsSync(target)) throw new Error(`${target} is there: a golden store is never made again`)
  const root = join(target, 'data')
  mkdirSync(root, { recursive: true })
  await makeStore(root)
  const missing = Object.values(CHANGES).filter(({ name }) => !kindsIn(root).has(name))
  if (missing.length > 0) throw new Error(`the store has no ${missing.map(({ name }) => name).join(', ')}`)
  const paths = new StorePaths(root)
  await compressJournal(paths)
  await snapshotOf(paths, { keys: keysOf(nodeDisk, paths, GOLDEN_KEY) })
  const copy = mkdtempSync(join(tmpdir(), 'golden-'))
  try {
    cpSync(root, copy, { recursive: true })
    const server = await startGolden(copy)
    writeFileSync(join(target, 'expected.json'), `${JSON.stringify(await goldenAnswers(server), null, 1)}\n`)
    await server.stop()
  } finally {
    rmSync(copy, { recursive: true })
  }
  removeDerived(paths)
}

await main(process.argv[2] ?? '')
