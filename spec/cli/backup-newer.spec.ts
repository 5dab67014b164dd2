/** Records of kinds that this version does not know, in a backup: what it knows is checked all the same, and the exit code says so. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupReport } from '../../cli/backup/make-backup.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { backUp, backupCase, LARGE_BYTES, modelled, restore } from '../support/backups.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { strangeEntry } from '../support/journals/forged-journal.ts'
import { encodeBatch, encodeRecord, packBody, type RecordFields } from '../support/journals/journal-bytes.ts'
import { someBytes } from '../support/test-store.ts'
import { run } from './command-runner.ts'

const TIME = 1_990_000_000_000_000
const SEGMENT_BYTES = 256 * 1024

/** What a later version might write. */
const KINDS: Readonly<Record<string, Partial<RecordFields>>> = {
  'change kind 90': { body: packBody(strangeEntry(TIME, [90, 'x']).values) },
  'record kind 9': { kind: 9 },
  'body version 3': { bodyVersion: 3 },
  'body version 3 of an entry without changes': { kind: 4, bodyVersion: 3 },
}

/** Appends a batch of one record after the point of a backup, and returns the point at its end. */
function append(backup: string, { point }: BackupReport, fields: Partial<RecordFields>): BackupReport['point'] {
  const sequence = point.sequence + 1
  const { bytes: record, hash } = encodeRecord({
    kind: 3,
    bodyVersion: 1,
    sequence,
    time: TIME,
    previousHash: Buffer.from(point.hash, 'hex'),
    body: packBody(strangeEntry(TIME).values),
    ...fields,
  })
  const path = segmentPath(new StorePaths(backup), -1)
  const offset = point.offset ?? 0
  const batchNumber = point.batch + 1
  const batch = encodeBatch(
    { flags: 0, batchNumber, firstSequence: sequence, recordCount: 1, segmentNumber: 0 },
    record,
  )
  const before = readFileSync(path).subarray(0, offset)
  rmSync(path)
  writeFileSync(path, Buffer.concat([before, batch]))
  const ends = { sequence, hash: hash.toString('hex'), batch: batchNumber, offset: offset + batch.length }
  return { ...point, ...ends } as BackupReport['point']
}

/** Has the last manifest say that the backup ends with this point. */
function moveTo(backup: string, point: BackupReport['point']): void {
  const manifest = join(backup, 'manifests', readdirSync(join(backup, 'manifests')).at(-1) ?? '')
  const lines = readFileSync(manifest, 'utf8').split('\n').slice(0, -2)
  const head = { ...(JSON.parse(lines[0] ?? '') as object), point }
  const text = [JSON.stringify(head), ...lines.slice(1)].map((line) => `${line}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  rmSync(manifest)
  writeFileSync(manifest, `${text}${JSON.stringify({ sha256 })}\n`)
}

for (const [what, fields] of Object.entries(KINDS)) {
  backupCase(`a backup with a record of ${what}`, async (t) => {
    const root = t.testdir()
    const [data, backup, restored] = [join(root, 'data'), join(root, 'backup'), join(root, 'restored')]
    const life = await modelled(data, SEGMENT_BYTES)
    await life.put('a', someBytes(3000))
    await life.put('b', someBytes(LARGE_BYTES), true)
    const report = await backUp(data, backup)
    const verify = (...words: readonly string[]) => run(['backup', 'verify', backup, ...words])
    t.match(await verify(), { exitCode: 0, stdout: /^The backup is whole\./ })
    const point = append(backup, report, fields)
    const after = await verify()
    t.match(after, { exitCode: 27, stdout: /^The backup is whole up to its last point\. After it the journal holds/ })
    t.match(after.stdout, new RegExp(`sequence ${point.sequence}: newer than this verifier: ${what.slice(0, 14)}`))
    t.match(after.stdout, /, 2 payloads, /)
    t.match(JSON.parse((await verify('--json')).stdout), {
      whole: null,
      payloads: 2,
      newer: [{ count: 1 }],
      problems: [],
    })
    const volume = new StorePaths(backup).volumes
    const path = join(volume, readdirSync(volume)[0] ?? '')
    flipByte(path, 2000)
    t.match(await verify(), { exitCode: 21, stdout: /^The backup is NOT whole: 1 problem\.[^]*payload \d+: volume/ })
    flipByte(path, 2000)
    await restore(backup, restored)
    t.ok(existsSync(join(restored, 'journal')), 'the record is after the point')
    rmSync(restored, { recursive: true })
    moveTo(backup, point)
    const within = new RegExp(`record ${point.sequence}\\b|not with ${point.sequence}$`)
    t.match(await verify(), { exitCode: 27, stdout: '', stderr: within })
    await t.rejects(restore(backup, restored), { message: within })
    t.notOk(existsSync(join(restored, 'journal')))
  })
}
