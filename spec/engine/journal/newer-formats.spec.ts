/**
 * A program that finds what a newer one wrote: it says so by version, with an exit code of its own, and touches nothing.
 * Proves: VER-ANY-05.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { exitOfError } from '../../../cli/server/engine-exit.ts'
import { exitTable } from '../../../cli/exit-codes.ts'
import { crc32 } from '../../../engine/hashing/crc32.ts'
import { FORMAT_VERSION, SEGMENT_HEADER } from '../../../engine/journal/format.ts'
import { decodeGenesis } from '../../../engine/journal/bodies.ts'
import { Packr } from 'msgpackr'
import { backUp, restore, verify } from '../../support/backups.ts'
import { run } from '../../cli/command-runner.ts'
import { MASTER_KEY, openTestStore, type TestStore } from '../../support/test-store.ts'

async function closed(root: string): Promise<TestStore> {
  const store = await openTestStore(root)
  await store.close(true)
  return store
}

/** The header of the first segment says that a newer program wrote it. */
function ofNewerFormat(path: string): void {
  const bytes = readFileSync(path)
  bytes.writeUInt16BE(FORMAT_VERSION + 1, SEGMENT_HEADER.versionAt)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, SEGMENT_HEADER.checksumAt)), SEGMENT_HEADER.checksumAt)
  writeFileSync(path, bytes)
}

test('a journal of a newer format ends a start and each command with 27 and both versions', async (t) => {
  const { paths } = await closed(join(t.testdir(), 'data'))
  const [segment = ''] = readdirSync(paths.journal).filter((name) => name.endsWith('.segment'))
  const path = join(paths.journal, segment)
  ofNewerFormat(path)
  const before = readFileSync(path)
  const message = new RegExp(
    `the journal has format ${FORMAT_VERSION + 1}: another .* this one knows format ${FORMAT_VERSION}`,
  )
  await t.rejects(openTestStore(paths.root), { name: 'NewerFormatError', message })
  t.equal(exitTable[exitOfError('NewerFormatError')].code, 27)
  const environment = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex') }
  const checked = await run(['projections', 'check', '--data-dir', paths.root], { environment })
  t.match(checked, { exitCode: 27, stderr: message })
  t.ok(readFileSync(path).equals(before), 'nothing was changed')
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
