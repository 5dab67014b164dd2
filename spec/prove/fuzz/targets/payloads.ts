/** Stored bytes: wrong ones never count as right, in whatever form they lie. */
import { crc32 } from 'node:zlib'
import { payloadIdOf, volumeNumberOf } from '../../../../engine/brands.ts'
import { encodeFileTrailer, decodeFileTrailer } from '../../../../engine/payloads/file-format.ts'
import { PayloadSealer, TAG_BYTES } from '../../../../engine/payloads/sealing.ts'
import { plainBlocks, sealedBlocks } from '../../../../engine/payloads/block-codec.ts'
import { encodeFrame, encodeVolumeHeader, frameBytes } from '../../../../engine/payloads/volume-format.ts'
import { VolumeDamagedError, volumeFrames } from '../../../../engine/payloads/volume-scan.ts'
import type { Random } from '../../../support/random.ts'
import { memoryFile } from '../memory-files.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const KEY = Buffer.alloc(32, 0x42)
const SEALER = new PayloadSealer(KEY)
const PLAINTEXTS = [Buffer.alloc(0), Buffer.from('a'), Buffer.from('The bytes of an object.\n'.repeat(20))]
const ENVELOPES = PLAINTEXTS.map((bytes, index) => SEALER.seal(Buffer.alloc(14, index), bytes))
const STRANGE = new PayloadSealer(Buffer.alloc(32, 1)).seal(Buffer.alloc(14), Buffer.from('a'))

function judgeEnvelope(input: Buffer): Verdict {
  const opened = SEALER.open(input)
  const at = ENVELOPES.findIndex((envelope) => envelope.equals(input))
  mustBeSame(opened?.toString('hex'), PLAINTEXTS[at]?.toString('hex'), 'what is in the envelope')
  return opened === undefined ? refused() : accepted()
}

const NAME = 'ab'.repeat(14)
const CODECS = { plain: plainBlocks, sealed: sealedBlocks(SEALER.fileKey(NAME)) } as const

interface StoredBlock {
  readonly form: keyof typeof CODECS
  readonly index: number
  readonly bytes: Buffer
  readonly stored: Buffer
}

function storedBlock(form: keyof typeof CODECS, index: number, bytes: Buffer): StoredBlock {
  const writer = CODECS[form].write(index)
  const block = Buffer.alloc(bytes.length)
  writer.take(bytes, block, 0)
  const proof = writer.proof()
  return { form, index, bytes, stored: Buffer.concat([Buffer.of(form === 'plain' ? 0 : 1, index), proof, block]) }
}

const BLOCKS = (['plain', 'sealed'] as const).flatMap((form) =>
  [0, 1, 7].map((index) => storedBlock(form, index, PLAINTEXTS[2]?.subarray(index) as Buffer)),
)

/** Form, number of the block, what proves it, the block. */
function judgeBlock(input: Buffer): Verdict {
  const form = (input[0] ?? 0) % 2 === 0 ? 'plain' : 'sealed'
  const proofBytes = form === 'plain' ? 4 : TAG_BYTES
  if (input.length < 2 + proofBytes) return refused('short')
  const [index, proof] = [input[1] ?? 0, input.subarray(2, 2 + proofBytes)]
  const block = Buffer.from(input.subarray(2 + proofBytes))
  const proved = CODECS[form].prove(block, index, proof)
  if (form === 'plain') {
    mustBeSame(proved, crc32(block) === proof.readUInt32BE(), 'the checksum')
    return proved ? accepted('plain') : refused('plain')
  }
  const known = BLOCKS.find(
    ({ stored, form: kind }) => kind === 'sealed' && stored.subarray(1).equals(input.subarray(1)),
  )
  mustBeSame(proved, known !== undefined, 'whether the tag is right')
  if (known !== undefined) mustHold(block.equals(known.bytes), 'the bytes of the block')
  return proved ? accepted('sealed') : refused('sealed')
}

function judgeTrailer(input: Buffer): Verdict {
  const bytes = Buffer.alloc(32)
  bytes.set(input.subarray(0, 32))
  const trailer = decodeFileTrailer(bytes)
  const isWhole = crc32(bytes.subarray(0, 28)) === bytes.readUInt32BE(28)
  const magic = bytes.toString('latin1', 0, 8)
  mustBeSame(trailer !== undefined, isWhole && (magic === 'OSTFILE1' || magic === 'OSTSEAL1'), 'whether it is one')
  if (trailer === undefined) return refused()
  mustBeSame(trailer.form, magic === 'OSTFILE1' ? 'plain' : 'sealed', 'the form')
  mustBeSame(trailer.length, Number(bytes.readBigUInt64BE(16)), 'the length')
  return accepted(trailer.form)
}

function repairedTrailer(input: Buffer): Buffer {
  const bytes = Buffer.alloc(32)
  bytes.set(input.subarray(0, 32))
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 28)), 28)
  return bytes
}

const VOLUME_HEADER_BYTES = 64
const FRAME_HEADER_BYTES = 32

/** A volume of payloads, the first with the id 1. */
function volumeOf(payloads: readonly Buffer[]): Buffer {
  const frames = payloads.map((bytes, index) => {
    const frame = Buffer.alloc(frameBytes(bytes.length))
    encodeFrame(frame, 0, payloadIdOf(index + 1), bytes, crc32(bytes))
    return frame
  })
  return Buffer.concat([encodeVolumeHeader(volumeNumberOf(3)), ...frames])
}

/** The frames by the table of spec/formats/payloads.md; `damaged` where there is none before the end. */
function naiveFrames(volume: Buffer): { readonly frames: unknown[]; readonly damaged: boolean } {
  const frames: unknown[] = []
  let at = VOLUME_HEADER_BYTES
  while (at < volume.length) {
    const header = volume.subarray(at, at + FRAME_HEADER_BYTES)
    const isWhole =
      header.length === FRAME_HEADER_BYTES &&
      header.toString('latin1', 0, 4) === 'OSVP' &&
      crc32(header.subarray(0, 28)) === header.readUInt32BE(28)
    const length = isWhole ? header.readUInt32BE(4) : 0
    const bytes = volume.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + length)
    if (!isWhole || bytes.length !== length) return { frames, damaged: true }
    frames.push([
      Number(header.readBigUInt64BE(8)),
      at + FRAME_HEADER_BYTES,
      bytes.toString('hex'),
      header.readUInt32BE(16),
    ])
    at += Math.ceil((FRAME_HEADER_BYTES + length) / 8) * 8
  }
  return { frames, damaged: false }
}

async function judgeVolume(input: Buffer): Promise<Verdict> {
  const found: unknown[] = []
  let damaged = false
  try {
    for await (const { payload, offset, bytes, checksum } of volumeFrames(memoryFile(input), input.length)) {
      found.push([payload, offset, bytes.toString('hex'), checksum])
    }
  } catch (error) {
    if (!(error instanceof VolumeDamagedError)) throw error
    damaged = true
  }
  mustBeSame({ frames: found, damaged }, naiveFrames(input), 'the frames')
  return damaged || found.length === 0
    ? refused(`behind ${Math.min(found.length, 3)}`)
    : accepted(`${Math.min(found.length, 3)}`)
}

/** Checksums of frame headers made right again, wherever one could begin. */
function repairedVolume(input: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(input)
  for (let at = VOLUME_HEADER_BYTES; at + FRAME_HEADER_BYTES <= bytes.length; at += 8) {
    if (bytes.toString('latin1', at, at + 4) !== 'OSVP' || random.below(8) === 0) continue
    bytes.writeUInt32BE(crc32(bytes.subarray(at, at + 28)), at + 28)
  }
  return bytes
}

const VOLUMES = [volumeOf(PLAINTEXTS), volumeOf([Buffer.alloc(1000, 7)])]

export const PAYLOAD_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'sealed-payload',
    seeds: ENVELOPES,
    words: [
      STRANGE,
      ...ENVELOPES.map((bytes) => bytes.subarray(0, 15)),
      ...ENVELOPES.map((bytes) => bytes.subarray(-16)),
    ],
    bytesMaximum: 4096,
    judge: judgeEnvelope,
  },
  {
    name: 'payload-block',
    seeds: BLOCKS.map(({ stored }) => stored),
    words: BLOCKS.map(({ stored }) => stored.subarray(2, 18)),
    bytesMaximum: 4096,
    judge: judgeBlock,
  },
  {
    name: 'payload-trailer',
    seeds: [encodeFileTrailer('plain', 0, 'a'), encodeFileTrailer('sealed', 2 ** 40, 'b')],
    words: ['OSTFILE1', 'OSTSEAL1'],
    bytesMaximum: 64,
    repair: repairedTrailer,
    judge: judgeTrailer,
  },
  {
    name: 'volume',
    seeds: VOLUMES,
    words: ['OSVP', ...VOLUMES.map((bytes) => bytes.subarray(64, 96))],
    repair: repairedVolume,
    judge: judgeVolume,
  },
]
