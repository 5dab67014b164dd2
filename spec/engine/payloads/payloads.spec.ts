import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { test } from 'tap'
import { payloadIdOf, type VolumeNumber, volumeNumberOf } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import * as fileFormat from '../../../engine/payloads/file-format.ts'
import { PayloadIds } from '../../../engine/payloads/payload-ids.ts'
import { PayloadReader, type VolumeLocation } from '../../../engine/payloads/payload-reader.ts'
import { SpaceGuard } from '../../../engine/payloads/space-guard.ts'
import { UploadStore } from '../../../engine/payloads/upload-store.ts'
import * as volumeFormat from '../../../engine/payloads/volume-format.ts'
import { VolumeWriter } from '../../../engine/payloads/volume-writer.ts'
import { PayloadFileSweep } from '../../../workers/sweep-payload-files.ts'
import { md5Of } from '../../support/commands.ts'
import { assertBytes, numberOf } from '../../support/journals/byte-layout.ts'
import { FaultDisk, inputOutputError, noSpaceError } from '../../support/disks/fault-disk.ts'
import { bodyHashing } from '../../support/hash-ports.ts'
import { flipByte } from '../../support/journal-files.ts'
import { payloadPaths, readLarge, START, storeLarge } from '../../support/large-payloads.ts'
import { byteFields, tableWith } from '../../support/pages/markdown-tables.ts'
import { roomyDisk, someBytes } from '../../support/test-store.ts'

const PAGE = 'spec/formats/payloads.md'
const BLOCK = fileFormat.BLOCK_BYTES

test('volumes, frames and trailers are laid out as the page says', async (t) => {
  const fields = (header: string, which = 0) => byteFields(tableWith(PAGE, header, which))
  const { VOLUME_HEADER, FRAME_HEADER } = volumeFormat
  assertBytes(t, volumeFormat.encodeVolumeHeader(volumeNumberOf(0x0102030405)), fields('offset | size | field'), {
    'magic, ASCII': VOLUME_HEADER.magic,
    'format version': volumeFormat.VOLUME_VERSION,
    zero: 'zero',
    'volume number': 0x0102030405,
    'CRC-32 of bytes 0 to 59': 'checksum',
  })
  const bytes = Buffer.from('thirteen byte')
  const frame = Buffer.alloc(volumeFormat.frameBytes(bytes.length), 0xff)
  volumeFormat.encodeFrame(frame, 0, payloadIdOf(0x1112131415), bytes, crc32(bytes))
  assertBytes(t, frame.subarray(0, 32), fields('offset | size | field', 1), {
    'magic, ASCII': FRAME_HEADER.magic,
    'L, length of the bytes': bytes.length,
    'payload id': 0x1112131415,
    'CRC-32 of the bytes': crc32(bytes),
    zero: 'zero',
    'CRC-32 of bytes 0 to 27': 'checksum',
  })
  t.same(frame.subarray(32), Buffer.concat([bytes, Buffer.alloc(3)]), 'the bytes, then zeros')
  for (const form of ['plain', 'sealed'] as const) {
    const trailer = fileFormat.encodeFileTrailer(form, 3 * BLOCK + 1, 'name')
    assertBytes(t, trailer, fields('offset in the trailer | size | field'), {
      'magic, ASCII': fileFormat.FILE_FORMS[form].magic,
      'length of a block': BLOCK,
      'number of blocks': 4,
      'length of the bytes': 3 * BLOCK + 1,
      'CRC-32 of the name of the file, ASCII': crc32('name'),
      'CRC-32 of bytes 0 to 27': 'checksum',
    })
    t.same(fileFormat.decodeFileTrailer(trailer), { form, length: 3 * BLOCK + 1, nameChecksum: crc32('name') })
    for (const at of [0, 20]) {
      const damaged = Buffer.from(trailer)
      damaged[at] = 1
      t.equal(fileFormat.decodeFileTrailer(damaged), undefined)
    }
    t.match(readFileSync(PAGE, 'utf8'), `\`${fileFormat.FILE_FORMS[form].magic}\``)
  }
  t.match(readFileSync(PAGE, 'utf8'), `blocks? of ${BLOCK.toLocaleString('en-US')} bytes`.replace('s?', ''))
})

function openVolumes(
  paths: StorePaths,
  end?: { volume: VolumeNumber; end: number },
  disk: Disk = roomyDisk,
): VolumeWriter {
  return new VolumeWriter(disk, paths, { volumeBytes: 4096 }, new SpaceGuard(disk, paths.root, 0), end)
}

test('J17 small payloads come back from their volume, and the volume is what the page says', async (t) => {
  const paths = payloadPaths(t.testdir())
  let volumes = openVolumes(paths)
  const stored: { readonly bytes: Buffer; readonly location: VolumeLocation; readonly id: number }[] = []
  for (const [id, length] of [1, 7, 8, 9, 1000, 1900, 4000, 4096, 9000, 5, 0x800, 31].entries()) {
    const bytes = someBytes(length)
    stored.push({ bytes, id, location: volumes.place(payloadIdOf(id), bytes, crc32(bytes), false) as VolumeLocation })
    if (id % 3 === 0) volumes.flush()
    if (id !== 6) continue
    volumes.flush()
    await volumes.close()
    const [last] = stored.slice(-1).map(({ location }) => location)
    volumes = openVolumes(paths, last && { volume: last.volume, end: last.offset + length })
  }
  volumes.flush()
  await volumes.close()
  const reader = new PayloadReader(roomyDisk, paths)
  for (const { bytes, location, id } of stored) {
    t.same(reader.readSmall(location), bytes, `${bytes.length} bytes`)
    const volume = readFileSync(paths.volume(location.volume))
    t.equal(volume.toString('latin1', 0, 8), 'OSTVOLM1')
    t.equal(numberOf(volume.subarray(16, 24)), location.volume)
    const frame = volume.subarray(location.offset - 32)
    t.equal(numberOf(frame.subarray(8, 16)), id, 'the frame names the payload')
    t.equal(numberOf(frame.subarray(4, 8)), bytes.length)
    t.equal(location.offset % 8, 0)
  }
  reader.close()
  t.ok(new Set(stored.map(({ location }) => location.volume)).size > 3, 'more than three volumes')
})

test('J17 damage to a small payload is found, whichever byte it hits', async (t) => {
  const paths = payloadPaths(t.testdir())
  const volumes = openVolumes(paths)
  const bytes = someBytes(300)
  const location = volumes.place(payloadIdOf(1), bytes, crc32(bytes), false) as VolumeLocation
  volumes.flush()
  await volumes.close()
  const read = () => {
    const reader = new PayloadReader(roomyDisk, paths)
    try {
      return reader.readSmall(location)
    } finally {
      reader.close()
    }
  }
  const file = paths.volume(location.volume)
  for (let at = location.offset; at < location.offset + bytes.length; at += 1) {
    flipByte(file, at)
    t.throws(read, { name: 'PayloadDamagedError', message: `volume 0, offset ${location.offset}` }, `byte ${at}`)
    flipByte(file, at)
  }
  t.same(read(), bytes)
  truncateSync(file, location.offset + bytes.length - 1)
  t.throws(read, { name: 'PayloadDamagedError' }, 'the volume is too short')
  rmSync(file)
  t.throws(read, { name: 'PayloadDamagedError', message: /volume 0 cannot be opened/ }, 'the volume is gone')
  const next = openVolumes(paths, { volume: volumeNumberOf(0), end: location.offset + bytes.length })
  const replacement = next.place(payloadIdOf(2), bytes, crc32(bytes), false) as VolumeLocation
  next.flush()
  await next.close()
  t.equal(replacement.volume, 1, 'what is stored now goes into another one')
  t.throws(read, { name: 'PayloadDamagedError' }, 'and what was lost stays lost')
})

test('J17 a file in the place of another one is found, and one of before names were in them is read', async (t) => {
  const paths = payloadPaths(t.testdir())
  const bytes = someBytes(BLOCK + 7)
  const location = await storeLarge(paths, bytes, BLOCK)
  const other = await storeLarge(paths, Buffer.from(bytes.toReversed()), BLOCK, { thread: 2 })
  const path = paths.file(location.name)
  const own = readFileSync(path)
  writeFileSync(path, readFileSync(paths.file(other.name)))
  for (const [start, end] of [
    [0, bytes.length],
    [1, 2],
    [BLOCK, BLOCK + 1],
  ] as const) {
    const found = { name: 'PayloadDamagedError', message: /trailer is damaged or belongs to another file/ }
    await t.rejects(readLarge(paths, location, start, end), found, `bytes ${start} to ${end}`)
  }
  own.fill(0, own.length - 8)
  own.writeUInt32BE(crc32(own.subarray(-32, -4)), own.length - 4)
  writeFileSync(path, own)
  t.ok((await readLarge(paths, location)).equals(bytes))
})

function leftBehind(paths: StorePaths): string[] {
  return readdirSync(paths.payloads, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

test('J9 an upload that fails at any operation, or is given up, leaves nothing behind', async (t) => {
  const bytes = someBytes(3 * 8 * BLOCK)
  for (const error of [inputOutputError(), noSpaceError()]) {
    for (let k = 1, failed = true; failed; k += 1) {
      const paths = payloadPaths(join(t.testdir(), String(k)))
      const disk = new FaultDisk()
      let count = 0
      disk.fault = ({ name }) => {
        if (name === 'remove' || name === 'close') return undefined
        count += 1
        return count === k ? { kind: 'error', error } : undefined
      }
      const stored = await storeLarge(paths, bytes, BLOCK, { disk }).catch(() => undefined)
      failed = count >= k
      t.equal(stored === undefined, failed, `operation ${k}`)
      t.equal(leftBehind(paths).length, failed ? 0 : 1, `operation ${k}: ${leftBehind(paths).join()}`)
    }
  }
  const paths = payloadPaths(join(t.testdir(), 'given-up'))
  const writer = new UploadStore(roomyDisk, paths, START, 1, bodyHashing()).create()
  for (let part = 0; part < 30; part += 1) void writer.write(bytes.subarray(0, BLOCK))
  await writer.abandon()
  t.same(leftBehind(paths), [])
})

test('a file that is stored beside its hashing, and refused then, leaves nothing', async (t) => {
  const paths = payloadPaths(t.testdir())
  const writer = new UploadStore(roomyDisk, paths, START, 1, bodyHashing()).create()
  const bytes = someBytes(20 * BLOCK + 5)
  void writer.write(bytes)
  writer.store()
  t.equal((await writer.digests()).md5, md5Of(bytes))
  await writer.abandon()
  t.same(leftBehind(paths), [])
})

test('J1 a file is synced when all of it is written and it has its name, and before anybody hears of it', async (t) => {
  const paths = payloadPaths(t.testdir())
  const disk = new FaultDisk()
  await storeLarge(paths, someBytes(20 * BLOCK + 5), 2 * BLOCK, { disk })
  const names = disk.operations.map(({ name }) => name)
  const last = (name: string) => names.lastIndexOf(name as (typeof names)[number])
  t.ok(last('write') < last('sync'), 'after the last bytes')
  t.ok(last('rename') < last('sync'), 'after the name')
  t.ok(last('rename') < last('sync-directory'))
})

test('J9 the name of a payload directory is durable before its file is, also when another thread has just made it', async (t) => {
  const paths = payloadPaths(t.testdir())
  const disk = new FaultDisk()
  const directory = dirname(paths.file(new PayloadIds(START, 1).next()))
  // It is there, and nobody has synced its name.
  disk.after = ({ name }) => {
    if (name === 'create') mkdirSync(directory, { recursive: true })
  }
  await storeLarge(paths, someBytes(3 * BLOCK), BLOCK, { disk })
  const order = disk.operations.filter(({ name }) => name === 'rename' || name === 'sync-directory')
  const renamed = order.findIndex(({ name }) => name === 'rename')
  t.equal(dirname(order[renamed]?.to ?? ''), directory)
  t.equal(order[renamed - 1]?.path, paths.files, 'the directory of directories is synced before the file gets its name')
  t.equal(order[renamed + 1]?.path, directory, 'and its own one after')
})

function payloadName(start: string, counter: number): string {
  return `${start}00${counter.toString(16).padStart(10, '0')}`
}

test('the sweep removes payload files of earlier starts that nobody refers to, and no others', async (t) => {
  const paths = payloadPaths(t.testdir())
  const files = {
    used: payloadName('0000000000000001', 1),
    orphan: payloadName('0000000000000001', 2),
    usedElsewhere: payloadName('0000000000000002', 0x302),
    orphanElsewhere: payloadName('0000000000000002', 0x403),
    current: payloadName(START, 4),
  }
  for (const file of Object.values(files)) {
    mkdirSync(dirname(paths.file(file)), { recursive: true })
    writeFileSync(paths.file(file), file)
  }
  const used = new Set([files.used, files.usedElsewhere])
  const sweep = new PayloadFileSweep(roomyDisk, paths, START, (file) => used.has(file))
  while ((await sweep.step()) === 'more');
  t.equal(sweep.removed, 2)
  t.same(
    Object.entries(files)
      .filter(([, file]) => existsSync(paths.file(file)))
      .map(([title]) => title),
    ['used', 'usedElsewhere', 'current'],
  )
})

test('a disk that cannot be looked at fails a step of the sweep, not the start of the server, and it is tried again', async (t) => {
  const paths = payloadPaths(t.testdir())
  const orphan = 'ab'.repeat(14)
  mkdirSync(paths.fileDirectory(orphan), { recursive: true })
  writeFileSync(paths.file(orphan), orphan)
  let broken = true
  const list = (path: string) => {
    if (broken) throw inputOutputError()
    return roomyDisk.list(path)
  }
  const sweep = new PayloadFileSweep({ ...roomyDisk, list }, paths, START, () => false)
  await t.rejects(sweep.step(), { code: 'EIO' })
  broken = false
  t.equal(await sweep.step(), 'done')
  t.notOk(existsSync(paths.file(orphan)))
})

test('a file that the disk cannot read is damaged, and closed again', async (t) => {
  const paths = payloadPaths(t.testdir())
  const location = await storeLarge(paths, someBytes(BLOCK), BLOCK)
  const disk = new FaultDisk()
  disk.fault = ({ name }) => (name === 'read' ? { kind: 'error', error: inputOutputError() } : undefined)
  const payloads = new PayloadReader(disk, paths)
  const damaged = { name: 'PayloadDamagedError', message: /^payload file .*, offset \d+: the disk cannot read it$/ }
  for (let count = 0; count < 3; count += 1) await t.rejects(payloads.openLarge(location, 0, 10), damaged)
  t.equal(disk.count('close'), disk.count('open-to-read'))
})
