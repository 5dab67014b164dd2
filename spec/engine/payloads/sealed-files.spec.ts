/** Payload files, plain and encrypted: ranges, damage, and blocks that are moved about. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { test } from 'tap'
import { plainBlocks, sealedBlocks } from '../../../engine/payloads/block-codec.ts'
import { BlockTable } from '../../../engine/payloads/block-table.ts'
import * as fileFormat from '../../../engine/payloads/file-format.ts'
import type { FileLocation } from '../../../engine/payloads/payload-reader.ts'
import { ENVELOPE, PayloadSealer, TAG_BYTES } from '../../../engine/payloads/sealing.ts'
import { UploadStore } from '../../../engine/payloads/upload-store.ts'
import { bodyHashing } from '../../support/hash-ports.ts'
import { flipByte } from '../../support/journal-files.ts'
import { payloadPaths, readLarge, START, storeLarge } from '../../support/large-payloads.ts'
import { roomyDisk, someBytes } from '../../support/test-store.ts'

const BLOCK = fileFormat.BLOCK_BYTES
const sealer = new PayloadSealer(Buffer.alloc(32, 0x2f))
const otherSealer = new PayloadSealer(Buffer.alloc(32, 0x30))

const EDGES = [
  1,
  BLOCK / 2,
  BLOCK - 1,
  BLOCK,
  BLOCK + 1,
  1.5 * BLOCK,
  8 * BLOCK - 1,
  8 * BLOCK,
  8 * BLOCK + 1,
  17 * BLOCK + 5,
]

interface Form {
  readonly sealer?: PayloadSealer
  readonly proofBytes: number
  readonly fault: string
}

const FORMS: Readonly<Record<string, Form>> = {
  plain: { proofBytes: 4, fault: 'checksum does not match' },
  encrypted: { sealer, proofBytes: TAG_BYTES, fault: 'authentication tag does not match' },
}

function blockOf(bytes: Buffer, block: number): Buffer {
  return bytes.subarray(block * BLOCK, (block + 1) * BLOCK)
}

test('J17 large payloads come back whole and in parts, at every edge of blocks and pieces', async (t) => {
  const paths = payloadPaths(t.testdir())
  const all = someBytes(17 * BLOCK + 5)
  for (const [form, { proofBytes, ...options }] of Object.entries(FORMS)) {
    const { sealer: key } = options
    for (const [index, length] of EDGES.entries()) {
      const bytes = all.subarray(0, length)
      const chunk = [10_000, 99_999, BLOCK, 3 * BLOCK + 1][index % 4] as number
      const location = await storeLarge(paths, bytes, chunk, options)
      const file = readFileSync(paths.file(location.name))
      const blocks = Math.ceil(length / BLOCK)
      t.equal(file.length, length + proofBytes * blocks + 32)
      for (let block = 0; block < blocks; block += 1) {
        const plain = blockOf(bytes, block)
        const isPlain = blockOf(file, block).subarray(0, plain.length).equals(plain)
        if (isPlain !== (key === undefined) && length > 16) t.fail(`${form}: block ${block}`)
        if (key === undefined && file.readUInt32BE(length + 4 * block) !== crc32(plain)) t.fail(`checksum of ${block}`)
      }
      const places = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 8 * BLOCK, 8 * BLOCK + 1, length - 1, length]
      const edges = [...new Set(places.filter((place) => place >= 0 && place <= length))]
      for (const start of edges) {
        for (const end of edges.filter((place) => place >= start)) {
          const part = await readLarge(paths, location, start, end, key)
          if (!part.equals(bytes.subarray(start, end))) t.fail(`${form}, ${length}: bytes ${start} to ${end}`)
        }
      }
      rmSync(paths.file(location.name))
    }
  }
  const location = await storeLarge(paths, all, 50_000)
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: all.length }), fc.nat({ max: all.length }), async (one, other) => {
      const [start, end] = [Math.min(one, other), Math.max(one, other)]
      return (await readLarge(paths, location, start, end)).equals(all.subarray(start, end))
    }),
    { numRuns: 50 },
  )
})

test('chunks of any lengths make the same file', async (t) => {
  const paths = payloadPaths(t.testdir())
  const bytes = someBytes(3 * BLOCK)
  const expected = await storeLarge(paths, bytes, BLOCK, { sealer })
  const file = readFileSync(paths.file(expected.name))
  rmSync(paths.file(expected.name))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: BLOCK + 1 }), { minLength: 1 }), async (lengths) => {
      const writer = new UploadStore(roomyDisk, paths, START, 1, bodyHashing(), sealer).create()
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const length = lengths[turn] ?? BLOCK
        if (turn % 2 === 0) await writer.write(bytes.subarray(at, at + length))
        else writer.writeNow(bytes.subarray(at, at + length))
        at += length
      }
      const { name } = await writer.finish()
      // The store and the counter are new, so it is the same name, key and nonces: here they may be.
      const same = name === expected.name && readFileSync(paths.file(name)).equals(file)
      rmSync(paths.file(name))
      return same
    }),
    { numRuns: 30 },
  )
})

test('J17 damage to a large payload is found where it is read, and no wrong byte leaves', async (t) => {
  const paths = payloadPaths(t.testdir())
  const bytes = someBytes(2.5 * BLOCK)
  const sample = [...Array(64).keys()].map((index) => (index * 2557) % bytes.length)
  const read = (location: FileLocation, block: number, key?: PayloadSealer) =>
    readLarge(paths, location, block * BLOCK + 10, block * BLOCK + 20, key)
  for (const [form, { proofBytes, fault, ...options }] of Object.entries(FORMS)) {
    const location = await storeLarge(paths, bytes, BLOCK, options)
    const file = paths.file(location.name)
    const proofs = [...Array(3 * proofBytes).keys()].map((index) => bytes.length + index)
    for (const at of [0, BLOCK - 1, BLOCK, 2 * BLOCK, bytes.length - 1, ...sample, ...proofs]) {
      flipByte(file, at)
      const block = at < bytes.length ? Math.floor(at / BLOCK) : Math.floor((at - bytes.length) / proofBytes)
      const found = { name: 'PayloadDamagedError', message: `offset ${block * BLOCK}: ${fault}` }
      await t.rejects(read(location, block, options.sealer), found, `${form}: byte ${at}`)
      const other = (block + 1) % 2
      const whole = await readLarge(paths, location, other * BLOCK, (other + 1) * BLOCK, options.sealer)
      if (!whole.equals(blockOf(bytes, other))) t.fail('another block is not concerned')
      flipByte(file, at)
    }
    const before = readFileSync(file)
    for (const [title, changed] of Object.entries({
      'a byte less': before.subarray(0, -1),
      'a byte more': Buffer.concat([before, Buffer.of(0)]),
      'no proofs': before.subarray(0, bytes.length),
      nothing: Buffer.alloc(0),
    })) {
      writeFileSync(file, changed)
      const opening = readLarge(paths, location, 0, 1, options.sealer)
      await t.rejects(opening, { name: 'PayloadDamagedError', message: /wrong length/ }, `${form}: ${title}`)
    }
    rmSync(file)
    const opening = readLarge(paths, location, 0, 1, options.sealer)
    await t.rejects(opening, { name: 'PayloadDamagedError', message: /cannot be opened/ })
  }
  const location = await storeLarge(paths, bytes, BLOCK, { sealer })
  await t.rejects(readLarge(paths, location), {
    name: 'PayloadDamagedError',
    message: /encrypted, and no key is configured/,
  })
  await t.rejects(readLarge(paths, location, 0, 1, otherSealer), { message: /offset 0: authentication tag/ })
  const asPlain = { ...location, sealed: false }
  await t.rejects(readLarge(paths, asPlain), { name: 'PayloadDamagedError', message: /wrong length/ })
})

/** A block with its tag, taken from one file and put into another, or to another place. */
function moveBlock(from: Buffer, block: number, to: Buffer, place: number, length: number): void {
  from.copy(to, place * BLOCK, block * BLOCK, (block + 1) * BLOCK)
  from.copy(to, length + place * TAG_BYTES, length + block * TAG_BYTES, length + (block + 1) * TAG_BYTES)
}

test('blocks of an encrypted file cannot be exchanged, repeated or cut off', async (t) => {
  const paths = payloadPaths(t.testdir())
  const bytes = Buffer.alloc(4 * BLOCK, 'the same in every block ')
  const location = await storeLarge(paths, bytes, BLOCK, { sealer })
  const twin = await storeLarge(paths, bytes, BLOCK, { sealer, thread: 2 })
  const path = paths.file(location.name)
  const file = readFileSync(path)
  const other = readFileSync(paths.file(twin.name))
  const blocks = [file, other].flatMap((whole) =>
    [0, 1, 2, 3].map((block) => whole.toString('hex', block * BLOCK, (block + 1) * BLOCK)),
  )
  t.equal(new Set(blocks).size, 8, 'equal blocks do not look alike')
  const changes: Record<string, (changed: Buffer) => void> = {
    'two exchanged': (changed) => {
      moveBlock(file, 1, changed, 2, bytes.length)
      moveBlock(file, 2, changed, 1, bytes.length)
    },
    'one repeated': (changed) => moveBlock(file, 0, changed, 1, bytes.length),
    'one of another file': (changed) => moveBlock(other, 1, changed, 1, bytes.length),
  }
  for (const [title, change] of Object.entries(changes)) {
    const changed = Buffer.from(file)
    change(changed)
    writeFileSync(path, changed)
    await t.rejects(readLarge(paths, location, 0, bytes.length, sealer), { message: /offset 65536: auth/ }, title)
  }
  const cut = (length: number) =>
    Buffer.concat([
      file.subarray(0, length),
      file.subarray(bytes.length, bytes.length + Math.ceil(length / BLOCK) * TAG_BYTES),
      fileFormat.encodeFileTrailer('sealed', length, location.name),
    ])
  for (const length of [3 * BLOCK, 3 * BLOCK + 1, 4 * BLOCK - 1]) {
    writeFileSync(path, cut(length))
    await t.rejects(readLarge(paths, location, 0, 1, sealer), { message: /wrong length/ }, `cut to ${length}`)
  }
  const shorter: FileLocation = { ...location, length: 4 * BLOCK - 1 }
  const readShorter = readLarge(paths, shorter, 0, shorter.length, sealer)
  await t.rejects(
    readShorter,
    { message: /offset 196608: auth/ },
    'a block is whole, even for whoever trusts its length',
  )
  const envelope = sealer.seal(Buffer.from(location.name, 'hex'), bytes.subarray(0, BLOCK))
  const crossed = Buffer.from(file)
  envelope.copy(crossed, 0, ENVELOPE.ciphertextAt, ENVELOPE.ciphertextAt + BLOCK)
  envelope.copy(crossed, bytes.length, envelope.length - TAG_BYTES)
  writeFileSync(path, crossed)
  const readCrossed = readLarge(paths, location, 0, 1, sealer)
  await t.rejects(readCrossed, { message: /offset 0: auth/ }, 'an envelope of the same id has another key')
})

test('there are as many proofs as blocks, and each proves its own', async (t) => {
  const block = someBytes(BLOCK)
  const target = Buffer.alloc(BLOCK)
  for (const codec of [plainBlocks, sealedBlocks(sealer.fileKey('0'.repeat(28)))]) {
    const table = new BlockTable(codec)
    const watched = new Map<number, Buffer>()
    for (let index = 0; index < 2100; index += 1) {
      block.writeUInt32BE(index)
      if (table.room !== BLOCK) t.fail(`block ${index} has begun`)
      table.take(block, target, 0)
      if (index % 256 < 2 || index % 256 === 255) watched.set(index, Buffer.from(target))
    }
    const { proofBytes } = fileFormat.FILE_FORMS[codec.form]
    const proofs = table.end()
    t.equal(proofs.length, 2100 * proofBytes)
    for (const [index, stored] of watched) {
      const proof = proofs.subarray(index * proofBytes, (index + 1) * proofBytes)
      t.ok(codec.prove(stored, index, proof), `${codec.form}: block ${index}`)
      t.equal(stored.readUInt32BE(), index)
    }
  }
})
