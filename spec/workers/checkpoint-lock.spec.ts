/** The lock of checkpoints on another store and in a directory: what it lets be published, and what it remembers. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CreateBucketCommand, DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { test } from 'tap'
import { DiskFullError } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import { FileLock } from '../../workers/checkpoints/file-lock.ts'
import type { LockPlace } from '../../workers/checkpoints/lock-place.ts'
import { S3Lock } from '../../workers/checkpoints/s3-lock.ts'
import { createBucket } from '../support/commands.ts'
import { lockedLog } from '../support/locked-log.ts'
import { startInThread } from '../support/test-server.ts'

/** A lock, and its contents as somebody else reads and writes them. */
interface World {
  readonly place: LockPlace
  get(log: string): Promise<string>
  put(log: string, text: string): Promise<void>
  remove(log: string): Promise<void>
  end(): Promise<void>
}

const object = (log: string) => ({ Bucket: 'locks', Key: `of/stores/${log}` })

async function onAnotherStore(): Promise<World> {
  const server = await startInThread()
  await server.s3.send(new CreateBucketCommand({ Bucket: 'locks' }))
  const { endpoint, accessKey, secretKey } = server
  const options = { endpoint, accessKey, secretKey, region: 'us-east-1', bucket: 'locks', prefix: 'of/stores/' }
  return {
    place: new S3Lock({ ...options, clock: systemMilliseconds }),
    get: async (log) => {
      const { Body } = await server.s3.send(new GetObjectCommand(object(log)))
      return (await Body?.transformToString()) ?? ''
    },
    put: async (log, text) => void (await server.s3.send(new PutObjectCommand({ ...object(log), Body: text }))),
    remove: async (log) => void (await server.s3.send(new DeleteObjectCommand(object(log)))),
    end: () => server.stop(),
  }
}

async function inDirectory(root: string): Promise<World> {
  const directory = join(root, 'locks')
  mkdirSync(directory)
  const path = (log: string) => join(directory, encodeURIComponent(log))
  return {
    place: new FileLock(nodeDisk, directory),
    get: async (log) => readFileSync(path(log), 'utf8'),
    put: async (log, text) => writeFileSync(path(log), text),
    remove: async (log) => rmSync(path(log)),
    end: async () => undefined,
  }
}

const WORLDS: readonly (readonly [string, (root: string) => Promise<World>])[] = [
  ['on another store', onAnotherStore],
  ['in a directory', inDirectory],
]

for (const [title, begin] of WORLDS) {
  test(`a lock ${title} holds each checkpoint before it is published, after a restart and a replay too`, async (t) => {
    const root = t.testdir({ data: {} })
    const world = await begin(root)
    const first = await lockedLog(join(root, 'data'), world.place)
    t.equal(await first.lock.step(), 'idle', 'there is no checkpoint')
    const one = (await first.sign()) as CheckpointState
    t.equal(first.signing.reader.last(), undefined, 'it is withheld')
    t.same(first.publication.waitsFor, [`lock ${world.place.name}`])
    await first.attempt()
    t.equal(first.signing.reader.last()?.size, one.size)
    t.equal(await world.get(one.origin), noteOf(one))
    t.match(first.signing.reader.receiptsOf(one.size), [{ kind: 'lock', giver: world.place.name }])
    t.same([first.publication.waitsFor, first.failures], [[], []])
    await first.close()
    rmSync(first.store.paths.projections, { recursive: true })
    const second = await lockedLog(join(root, 'data'), world.place)
    const two = (await second.sign()) as CheckpointState
    t.ok(two.size > one.size, 'what the lock holds is its own')
    await second.attempt()
    t.equal(await world.get(one.origin), noteOf(two))
    t.match(second.signing.worker.facts, { refusal: undefined, refusalCode: undefined })
    await second.close()
    await world.end()
  })

  test(`T3 a data directory that was rolled back signs nothing below a lock ${title}, and serves`, async (t) => {
    const root = t.testdir({ data: {} })
    const data = join(root, 'data')
    const world = await begin(root)
    const first = await lockedLog(data, world.place)
    const kept = (await first.sign()) as CheckpointState
    await first.attempt()
    await first.close()
    cpSync(data, join(root, 'copy'), { recursive: true })
    const second = await lockedLog(data, world.place)
    const lost = (await second.sign()) as CheckpointState
    await second.attempt()
    await second.close()
    rmSync(data, { recursive: true })
    renameSync(join(root, 'copy'), data)
    for (const start of ['a start', 'another']) {
      const back = await lockedLog(data, world.place)
      t.equal((await back.sign())?.sequence, kept.sequence, `${start} signs nothing`)
      t.match(back.signing.worker.facts, {
        refusal: new RegExp(`^lock .* has seen a checkpoint of ${lost.size} records .* rolled back`),
        refusalCode: 'CHECKPOINT_ROLLBACK',
      })
      await back.store.client.execute(createBucket(`goes-on-${start.length}`))
      t.equal(await world.get(kept.origin), noteOf(lost), 'the lock is as it was')
      await back.close()
    }
    const renamed = await lockedLog(data, world.place, { name: 'spec.log.2' })
    const anew = (await renamed.sign()) as CheckpointState
    await renamed.attempt()
    t.match(renamed.signing.worker.facts, { refusal: undefined, refusalCode: undefined })
    t.equal(await world.get(anew.origin), noteOf(anew), 'a log of another name goes on beside it')
    t.equal(await world.get(kept.origin), noteOf(lost))
    await renamed.close()
    await world.end()
  })
}

for (const [title, begin] of WORLDS) {
  test(`T3 of two copies of one data directory and one lock ${title} exactly one goes on`, async (t) => {
    const root = t.testdir({ data: {} })
    const world = await begin(root)
    const before = await lockedLog(join(root, 'data'), world.place)
    await before.sign()
    await before.attempt()
    await before.close()
    cpSync(join(root, 'data'), join(root, 'copy'), { recursive: true })
    const one = await lockedLog(join(root, 'data'), world.place)
    const other = await lockedLog(join(root, 'copy'), world.place)
    const [ofOne, ofOther] = [(await one.sign()) as CheckpointState, (await other.sign()) as CheckpointState]
    await one.attempt()
    await other.attempt()
    t.equal(one.signing.reader.last()?.size, ofOne.size)
    t.ok((other.signing.reader.last()?.size as number) < ofOther.size, 'what the other one signed is never shown')
    t.equal(other.signing.worker.facts.refusalCode, 'CHECKPOINT_ROLLBACK')
    t.equal(other.signing.rollbacks.length, 1)
    await one.sign()
    await one.attempt()
    await other.lock.step()
    t.equal(await world.get(ofOne.origin), noteOf(one.signing.reader.last() as CheckpointState))
    t.equal(one.signing.worker.facts.refusalCode, undefined)
    for (const log of [one, other]) await log.close()
    rmSync(other.store.paths.projections, { recursive: true })
    const renamed = await lockedLog(join(root, 'copy'), world.place, { name: 'spec.log.2' })
    t.equal(await renamed.lock.step(), 'idle', 'what the old log left is not written')
    const anew = (await renamed.sign()) as CheckpointState
    await renamed.attempt()
    t.same([renamed.signing.reader.last()?.size, renamed.signing.rollbacks], [anew.size, []])
    t.equal(renamed.signing.reader.ofSize(ofOther.size), undefined, 'what was never published never is')
    t.notOk(renamed.signing.reader.after(-1, 100).some(({ size }) => size === ofOther.size))
    await renamed.close()
    await world.end()
  })

  test(`a lock ${title} that was written before a kill is known again`, async (t) => {
    const root = t.testdir({ data: {} })
    const world = await begin(root)
    const first = await lockedLog(join(root, 'data'), world.place)
    const one = (await first.sign()) as CheckpointState
    await world.place.write(one.origin, noteOf(one), undefined, new AbortController().signal)
    await first.close()
    const second = await lockedLog(join(root, 'data'), world.place)
    await second.attempt()
    t.equal(second.signing.reader.last()?.size, one.size)
    t.same([second.failures, second.signing.rollbacks], [[], []])
    await second.close()
    await world.end()
  })

  test(`a lock ${title} that was emptied, or holds anything else, keeps checkpoints back`, async (t) => {
    const root = t.testdir({ data: {}, other: {} })
    const world = await begin(root)
    const first = await lockedLog(join(root, 'data'), world.place)
    const one = (await first.sign()) as CheckpointState
    await first.attempt()
    await first.close()
    const stranger = await lockedLog(join(root, 'other'), world.place, { key: new SigningKey(Buffer.alloc(32, 4)) })
    const theirs = (await stranger.sign()) as CheckpointState
    await stranger.close()
    const cases: readonly (readonly [string | undefined, RegExp])[] = [
      [undefined, /holds nothing, and the checkpoint of \d+ records was written to it/],
      ['', /does not hold a checkpoint/],
      ['garbage', /does not hold a checkpoint/],
      [noteOf(theirs), /holds a checkpoint of spec.log/],
      [noteOf({ ...theirs, origin: one.origin, size: 9999 }), /no key of this store has signed/],
      ['x'.repeat(70_000), /more than 65536 bytes|longer than 65536 bytes/],
    ]
    for (const [text, says] of cases) {
      if (text === undefined) await world.remove(one.origin)
      else await world.put(one.origin, text)
      const log = await lockedLog(join(root, 'data'), world.place)
      await t.rejects(log.sign(), { message: says })
      t.match(log.signing.worker.facts, { refusal: /cannot be asked/, refusalCode: undefined, signed: 0 })
      await log.close()
    }
    await world.put(one.origin, noteOf(one))
    const log = await lockedLog(join(root, 'data'), world.place)
    t.ok(((await log.sign()) as CheckpointState).size > one.size)
    await log.close()
    await world.end()
  })
}

test('a lock in a directory that is not there, or that is full, publishes nothing until it is again', async (t) => {
  const root = t.testdir({ data: {}, locks: {} })
  const directory = join(root, 'locks')
  let isFull = false
  const disk = {
    ...nodeDisk,
    create: (path: string) => {
      if (isFull) throw new DiskFullError('no space')
      return nodeDisk.create(path)
    },
  }
  const log = await lockedLog(join(root, 'data'), new FileLock(disk, directory))
  const { size } = (await log.sign()) as CheckpointState
  rmSync(directory, { recursive: true })
  await log.attempt()
  t.match(log.failures, [/does not exist/])
  t.notOk(existsSync(directory), 'an empty mount point must not pass for a lock')
  mkdirSync(directory)
  isFull = true
  await log.attempt()
  t.match(log.failures[1], /no space/)
  t.equal(log.signing.reader.last(), undefined)
  isFull = false
  writeFileSync(
    join(directory, `${encodeURIComponent(log.signing.reader.state().last?.origin ?? '')}.new`),
    'left over',
  )
  await log.attempt()
  t.equal(log.signing.reader.last()?.size, size)
  t.equal(readdirSync(directory).length, 1, 'nothing else is left')
  await log.close()
})
