/**
 * A program that finds what a newer one or an unreleased one wrote: it says so, with an exit code of its own, and touches
 * nothing.
 * Proves: VER-ANY-05.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { exitOfError } from '../../../cli/server/engine-exit.ts'
import { exitTable } from '../../../cli/exit-codes.ts'
import { crc32 } from '../../../engine/hashing/crc32.ts'
import { FORMAT_VERSION, SEGMENT_HEADER, UNRELEASED_MAGIC } from '../../../engine/journal/format.ts'
import { decodeGenesis } from '../../../engine/journal/bodies.ts'
import { Packr } from 'msgpackr/index-no-eval'
import { backUp, restore, verify } from '../../support/backups.ts'
import { environment as given, run, spawned } from '../../cli/command-runner.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { segmentPath } from '../../support/journal-files.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { MASTER_KEY, openTestStore, type TestStore } from '../../support/test-store.ts'

async function closed(root: string): Promise<TestStore> {
  const store = await openTestStore(root)
  await store.close(true)
  return store
}

/** Changes the header of the first segment, with a right checksum. */
function editHeader(paths: StorePaths, edit: (header: Buffer) => void): void {
  const path = segmentPath(paths, 0)
  const bytes = readFileSync(path)
  edit(bytes)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, SEGMENT_HEADER.checksumAt)), SEGMENT_HEADER.checksumAt)
  writeFileSync(path, bytes)
}

/** Digests of all files below a directory by their paths, and the directories. */
function everythingIn(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path, entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'no file'] as const
  })
  return Object.fromEntries(entries)
}

const OTHERS = [
  {
    title: 'newer',
    exit: 27,
    error: 'NewerFormatError',
    edit: (header: Buffer) => header.writeUInt16BE(FORMAT_VERSION + 1, SEGMENT_HEADER.versionAt),
    message: new RegExp(`the journal has format ${FORMAT_VERSION + 1}: another .* knows format ${FORMAT_VERSION}`),
  },
  {
    title: 'unreleased',
    exit: 29,
    error: 'StoreUnreleasedError',
    edit: (header: Buffer) => header.write(UNRELEASED_MAGIC, 0, 'ascii'),
    message:
      /STORE_UNRELEASED: a version before 1\.0\.0, .*Start the build that wrote it, and copy its objects over S3/,
  },
] as const

for (const { title, exit, error, edit, message } of OTHERS) {
  test(`a store of a format that is ${title} ends a start and each command with ${exit}, and stays as it is`, async (t) => {
    const root = t.testdir()
    const data = join(root, 'data')
    const { paths } = await closed(data)
    editHeader(paths, edit)
    const before = everythingIn(data)
    t.equal(exitTable[exitOfError(error)].code, exit)
    await t.rejects(openTestStore(data), { name: error, message })
    const environment = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex') }
    const server = await spawned(['server', '--data-dir', data], { ...given, ...environment })
    t.match(server, { exitCode: exit, stderr: message }, 'server')
    for (const words of [
      ['projections', 'check', '--data-dir', data],
      ['projections', 'rebuild', '--data-dir', data],
      ['journal', 'verify', data],
      ['journal', 'show', data],
      ['backup', join(root, 'backup'), '--data-dir', data],
    ]) {
      t.match(await run(words, { environment }), { exitCode: exit, stderr: message }, words.join(' '))
    }
    t.match(await run(['server', 'doctor', '--data-dir', data], { environment }), { exitCode: 7, stdout: message })
    t.same(everythingIn(data), before, 'nothing was changed')
    t.same(readdirSync(root), ['data'], 'and nothing was made')
  })

  test(`a backup of a store whose format is ${title} is refused with ${exit}, and stays as it is`, async (t) => {
    const root = t.testdir()
    const { paths } = await closed(join(root, 'data'))
    const backup = join(root, 'backup')
    await backUp(paths.root, backup)
    editHeader(new StorePaths(backup), edit)
    const before = everythingIn(root)
    await t.rejects(verify(backup), { name: error, message })
    await t.rejects(restore(backup, join(root, 'restored')), { name: error, message })
    await t.rejects(backUp(paths.root, backup), { name: error, message })
    t.same(everythingIn(root), before)
  })
}

test('the verifiers name a segment that is not released', async (t) => {
  const { paths } = await closed(t.testdir())
  editHeader(paths, (header) => header.write(UNRELEASED_MAGIC, 0, 'ascii'))
  const message = /a version before 1\.0\.0, which was never released, wrote the segment/
  const { problems } = await verifyAtRest(paths.journal)
  t.match(problems[0], { verdict: 'damaged batch', offset: 0, detail: message })
  t.match(askStranger(paths.journal)[0], message)
})

test('a genesis of a newer format is told from a damaged one', async (t) => {
  const packr = new Packr({ useRecords: false })
  const body = packr.pack([FORMAT_VERSION + 1, 'object-store', Buffer.alloc(16), Buffer.alloc(32)])
  t.throws(() => decodeGenesis(body), {
    name: 'NewerFormatError',
    message: /begins with format 2, and this program knows 1/,
  })
})

test('a backup of a newer format is neither verified, restored nor added to', async (t) => {
  const root = t.testdir()
  const { paths } = await closed(join(root, 'data'))
  const backup = join(root, 'backup')
  await backUp(paths.root, backup)
  const [manifest = ''] = readdirSync(backup, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /manifest/.test(name) && /\d/.test(name),
  )
  const path = join(backup, manifest)
  const text = readFileSync(path, 'utf8')
  const changed = text.trimEnd().split('\n').slice(0, -1).join('\n').replace('"version":1', '"version":2')
  const sha256 = createHash('sha256').update(`${changed}\n`).digest('hex')
  writeFileSync(path, `${changed}\n${JSON.stringify({ sha256 })}\n`)
  t.not(readFileSync(path, 'utf8'), text)
  const newer = {
    exit: 'newerFormat',
    message: /a newer version of the program made this backup, this program knows version 1/,
  }
  await t.rejects(verify(backup), newer)
  await t.rejects(restore(backup, join(root, 'restored')), newer)
  await t.rejects(backUp(paths.root, backup), newer)
})
