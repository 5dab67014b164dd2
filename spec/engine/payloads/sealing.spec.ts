/**
 * Encryption of payloads at rest (specification, Encryption at rest; S26), below the wire.
 * Proves: DO-CAP-15.
 */
import { createDecipheriv, createHmac } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { test } from 'tap'
import { payloadIdOf, volumeNumberOf } from '../../../engine/brands.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import * as fileFormat from '../../../engine/payloads/file-format.ts'
import { PayloadIds } from '../../../engine/payloads/payload-ids.ts'
import { PayloadReader, type VolumeLocation } from '../../../engine/payloads/payload-reader.ts'
import { ENVELOPE, PayloadSealer, TAG_BYTES } from '../../../engine/payloads/sealing.ts'
import { SpaceGuard } from '../../../engine/payloads/space-guard.ts'
import { UploadStore } from '../../../engine/payloads/upload-store.ts'
import { VolumeWriter } from '../../../engine/payloads/volume-writer.ts'
import { bodyHashing } from '../../support/hash-ports.ts'
import { editFile, flipByte } from '../../support/journal-files.ts'
import { payloadPaths, START, storeLarge } from '../../support/large-payloads.ts'
import { tableWith } from '../../support/pages/markdown-tables.ts'
import { roomyDisk, someBytes } from '../../support/test-store.ts'

const PAGE = 'spec/formats/payloads.md'
const BLOCK = fileFormat.BLOCK_BYTES
const KEY = Buffer.alloc(32, 0x2f)
const sealer = new PayloadSealer(KEY)
const otherSealer = new PayloadSealer(Buffer.alloc(32, 0x30))

/** Opens a message with nothing but what the page says. */
function openByThePage(purpose: string, keyId: Buffer, block: number, ciphertext: Buffer, tag: Buffer): Buffer {
  const info = Buffer.concat([Buffer.from(`object-store/${purpose}/v1`), keyId, Buffer.of(1)])
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(block, 8)
  const decipher = createDecipheriv('aes-256-gcm', createHmac('sha256', KEY).update(info).digest(), nonce)
  decipher.setAuthTag(tag)
  return Buffer.concat([decipher.update(ciphertext), decipher.final()])
}

function uploadsOf(paths: StorePaths): UploadStore {
  return new UploadStore(roomyDisk, paths, START, 0, bodyHashing(), sealer)
}

test('an envelope is what the page says', async (t) => {
  const bytes = someBytes(500)
  const keyId = someBytes(14)
  const envelope = sealer.seal(keyId, bytes)
  t.same(tableWith(PAGE, 'offset in the envelope | size | field'), [
    ['0', '1', `version, ${ENVELOPE.version}`],
    [String(ENVELOPE.keyIdAt), String(ENVELOPE.keyIdBytes), 'key id'],
    [String(ENVELOPE.ciphertextAt), `L - ${ENVELOPE.overheadBytes}`, 'ciphertext'],
    [`L - ${TAG_BYTES}`, String(TAG_BYTES), 'tag'],
  ])
  t.equal(envelope[0], 1)
  t.same(envelope.subarray(1, 15), keyId)
  t.equal(envelope.length, bytes.length + 31)
  t.equal(envelope.buffer.byteLength, envelope.length, 'it can be handed to another thread without a copy')
  t.same(openByThePage('payload-in-volume', keyId, 0, envelope.subarray(15, -16), envelope.subarray(-16)), bytes)
})

test('an encrypted file is what the page says', async (t) => {
  const paths = payloadPaths(t.testdir())
  const bytes = someBytes(2.5 * BLOCK)
  const { name, length, sealed } = await storeLarge(paths, bytes, 50_000, { sealer })
  t.ok(sealed)
  const file = readFileSync(paths.file(name))
  t.equal(file.length, length + 3 * 16 + 32)
  t.match(fileFormat.decodeFileTrailer(file.subarray(-32)), { form: 'sealed', length })
  for (let block = 0; block < 3; block += 1) {
    const plain = bytes.subarray(block * BLOCK, (block + 1) * BLOCK)
    const stored = file.subarray(block * BLOCK, block * BLOCK + plain.length)
    const tag = file.subarray(length + block * 16, length + block * 16 + 16)
    const opened = openByThePage('payload-in-file', Buffer.from(name, 'hex'), block, stored, tag)
    t.ok(opened.equals(plain), `block ${block}`)
  }
})

test('an envelope opens with its key and as it was sealed, and not otherwise', async (t) => {
  for (const length of [0, 1, 15, 16, 17, 4096, 65_536]) {
    const bytes = someBytes(length)
    const envelope = sealer.seal(someBytes(14), bytes)
    t.ok(sealer.open(envelope)?.equals(bytes), `${length} bytes`)
    t.equal(otherSealer.open(envelope), undefined, 'another key')
    t.equal(sealer.open(envelope.subarray(0, -1)), undefined, 'a byte less')
    t.equal(sealer.open(envelope.subarray(1)), undefined, 'a byte less in front')
    t.equal(sealer.open(Buffer.concat([envelope, Buffer.of(0)])), undefined, 'a byte more')
  }
  const envelope = sealer.seal(someBytes(14), someBytes(300))
  for (let at = 0; at < envelope.length; at += 1) {
    for (const bit of [0x01, 0x80]) {
      envelope[at] = (envelope[at] as number) ^ bit
      if (sealer.open(envelope) !== undefined) t.fail(`byte ${at} with ${bit} turned over`)
      envelope[at] = (envelope[at] as number) ^ bit
    }
  }
  t.ok(sealer.open(envelope), 'all mended')
  for (let length = 0; length < 31; length += 1) {
    if (sealer.open(envelope.subarray(0, length)) !== undefined) t.fail(`an envelope of ${length} bytes`)
  }
})

/** Stores small payloads in volume 0. */
async function storeSmall(paths: StorePaths, uploads: UploadStore, bodies: Buffer[]): Promise<VolumeLocation[]> {
  const space = new SpaceGuard(roomyDisk, paths.root, 0)
  const volumes = new VolumeWriter(roomyDisk, paths, { volumeBytes: 65_536 }, space, undefined)
  const locations = bodies.map((bytes, index) => {
    const body = uploads.inlineBody(bytes)
    return volumes.place(payloadIdOf(index + 1), body.bytes, body.checksum, body.sealed) as VolumeLocation
  })
  volumes.flush()
  await volumes.close()
  return locations
}

function readSmall(paths: StorePaths, location: VolumeLocation, key?: PayloadSealer): Buffer {
  const reader = new PayloadReader(roomyDisk, paths, key)
  try {
    return reader.readSmall(location)
  } finally {
    reader.close()
  }
}

test('encrypted and plain payloads share a volume', async (t) => {
  const paths = payloadPaths(t.testdir())
  const marker = 'a sentence that nobody may find'
  const secret = Buffer.from(marker.repeat(10))
  const open = Buffer.from('a sentence that anybody may find'.repeat(10))
  const plain = new UploadStore(roomyDisk, paths, START, 0, bodyHashing())
  t.same(plain.inlineBody(open), { kind: 'inline', bytes: open, checksum: crc32(open), sealed: false })
  const mixed = { inlineBody: (bytes: Buffer) => (bytes === secret ? uploadsOf(paths) : plain).inlineBody(bytes) }
  const locations = await storeSmall(paths, mixed as UploadStore, [open, secret, open])
  t.same(
    locations.map(({ sealed, length }) => [sealed, length]),
    [
      [false, open.length],
      [true, secret.length + 31],
      [false, open.length],
    ],
  )
  for (const [index, location] of locations.entries()) {
    t.same(readSmall(paths, location, sealer), index === 1 ? secret : open, `payload ${index}`)
  }
  const volume = readFileSync(paths.volume(volumeNumberOf(0)))
  t.notOk(volume.includes(marker), 'the bytes are not on the disk')
  t.ok(volume.includes('a sentence that anybody'), 'and would be found')
})

test('J17 an encrypted small payload that cannot be proved is damaged', async (t) => {
  const paths = payloadPaths(t.testdir())
  const [one, other] = await storeSmall(paths, uploadsOf(paths), [someBytes(200), someBytes(200)])
  if (one === undefined || other === undefined) throw new Error('two payloads')
  const place = `volume 0, offset ${one.offset}`
  t.throws(() => readSmall(paths, one), { name: 'PayloadDamagedError', message: `${place}: it is encrypted` })
  t.throws(() => readSmall(paths, one, otherSealer), { name: 'PayloadDamagedError', message: place }, 'another key')
  const before = readFileSync(paths.volume(volumeNumberOf(0)))
  editFile(paths.volume(volumeNumberOf(0)), (volume) => {
    before.copy(volume, one.offset, other.offset, other.offset + other.length)
    return volume
  })
  t.throws(() => readSmall(paths, one, sealer), { message: `${place}: checksum` }, 'the envelope of another payload')
  writeFileSync(paths.volume(volumeNumberOf(0)), before)
  for (let at = 0; at < one.length; at += 7) {
    flipByte(paths.volume(volumeNumberOf(0)), one.offset + at)
    t.throws(() => readSmall(paths, one, sealer), { message: `${place}: checksum` }, `byte ${at}`)
    const stored = readFileSync(paths.volume(volumeNumberOf(0))).subarray(one.offset, one.offset + one.length)
    const forged = { ...one, checksum: crc32(stored) }
    t.throws(() => readSmall(paths, forged, sealer), { message: `${place}: not encrypted with` }, 'whatever the CRC-32')
    flipByte(paths.volume(volumeNumberOf(0)), one.offset + at)
  }
  t.equal(readSmall(paths, one, sealer).length, 200)
})

test('no id, and so no key, is ever used twice', async (t) => {
  const paths = payloadPaths(t.testdir())
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.constantFrom('00', 'a7', 'ff'), fc.integer({ min: 0, max: 255 })), {
        selector: ([start, thread]) => `${start} ${thread}`,
        minLength: 1,
        maxLength: 4,
      }),
      fc.array(fc.tuple(fc.nat({ max: 3 }), fc.boolean()), { maxLength: 20 }),
      async (members, turns) => {
        const stores = members.map(
          ([start, thread]) => new UploadStore(roomyDisk, paths, start.repeat(8), thread, bodyHashing(), sealer),
        )
        const ids: string[] = []
        for (const [which, large] of turns) {
          const uploads = stores[which % stores.length] as UploadStore
          if (large) {
            const writer = uploads.create()
            writer.writeNow(Buffer.from('large'))
            const { name } = await writer.finish()
            ids.push(name)
            rmSync(paths.file(name))
          } else {
            ids.push(Buffer.from(uploads.inlineBody(Buffer.from('small')).bytes).toString('hex', 1, 15))
          }
        }
        return new Set(ids).size === ids.length && ids.every((id) => /^[0-9a-f]{28}$/.test(id))
      },
    ),
    { numRuns: 40 },
  )
  const ids = new PayloadIds(START, 255, 2 ** 40 - 2)
  const last = ids.next()
  t.equal(last.slice(0, -2), `${START}ffffffffff`, 'the last one')
  t.throws(() => ids.next(), /used up its payload ids/, 'rather nothing than the first one again')
  t.throws(() => ids.next(), /used up its payload ids/)
  t.throws(() => PayloadIds.after(last).next(), /used up its payload ids/)
})

test('payloads that come one after the other share a directory, every directory has its turn, and the order is known', (t) => {
  const ids = new PayloadIds(START, 7)
  const [directories, seen] = [new Map<string, number>(), new Set<string>()]
  let before: string | undefined
  for (let count = 1; count < 2 ** 20 + 5000; count += 1) {
    const id = ids.next()
    seen.add(id)
    directories.set(id.slice(-2), (directories.get(id.slice(-2)) ?? 0) + 1)
    if (before !== undefined && count % 997 < 2) t.equal(PayloadIds.after(before).next(), id)
    before = id
  }
  t.equal(seen.size, 2 ** 20 + 4999)
  t.equal(directories.size, 256)
  t.ok([...directories.values()].every((files) => files >= 4095 && files <= 8192))
  t.end()
})
