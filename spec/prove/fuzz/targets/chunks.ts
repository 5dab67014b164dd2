/** Bodies in chunks: a line that says what the head of the request did, then the body. */
import { ChunkReader } from '../../../../planes/s3/bodies/chunk-reader.ts'
import { ChunkSignatures } from '../../../../planes/s3/signing/chunk-signatures.ts'
import { deriveSigningKey } from '../../../../planes/s3/signing/signature-v4.ts'
import {
  CHUNK_FORMS,
  chunkedParts,
  chunkSignature,
  type ChunkSigning,
  encodedBody,
  trailerSignatureOf,
} from '../../../support/chunked-requests.ts'
import type { Random } from '../../../support/random.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { wordsOf } from '../edge-values.ts'
import { naiveChunks } from '../naive-chunks.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const SIGNING: ChunkSigning = {
  secretKey: 'a-secret-of-this-target',
  region: 'us-east-1',
  timestamp: '20260801T120000Z',
  seed: 'ab'.repeat(32),
}
const SCOPE = { date: '20260801', region: SIGNING.region }
const KEY = deriveSigningKey(SIGNING.secretKey, SCOPE)
const TRAILER = 'x-amz-checksum-crc32'
const SUM = 'AAAAAA=='
const BYTES_MAXIMUM = 24 * 1024
/** Of a body; small ones come byte by byte. */
const PIECES_MAXIMUM = 100

/** What the first line says: the form by its place in the list, the decoded length, bytes of the pieces. */
interface Said {
  readonly form: (typeof CHUNK_FORMS)[number]
  readonly decodedLength: number
  readonly pieceBytes: number
  readonly body: Buffer
}

const FIRST_LINE = /^([0-2]) (\d{1,6}) (\d{1,5})\n/

function saidIn(input: Buffer): Said | undefined {
  const [line, form, length, pieces] = FIRST_LINE.exec(input.toString('latin1', 0, 20)) ?? []
  if (line === undefined) return undefined
  const decodedLength = Number(length)
  const body = input.subarray(line.length)
  return { form: CHUNK_FORMS[Number(form)] ?? CHUNK_FORMS[0], decodedLength, pieceBytes: Number(pieces) + 1, body }
}

function inputOf(form: number, decodedLength: number, pieces: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${form} ${decodedLength} ${pieces}\n`), body])
}

function made(form: number, size: number, chunkBytes: number, lineEnd: '\r\n' | '\n\r\n' = '\r\n'): Buffer {
  const name = CHUNK_FORMS[form] ?? CHUNK_FORMS[0]
  const trailer = form === 0 ? undefined : ([TRAILER, SUM] as const)
  const parts = chunkedParts(name, sampleBytes(size), chunkBytes, trailer, SIGNING, lineEnd)
  return inputOf(form, size, size > 1000 ? 1500 : 2, encodedBody(parts))
}

/** At the start of what comes after the final chunk. */
const SIGNED_TRAILER = /^([^:\r\n]{0,99}):([^\r\n]{0,99})(\r?\n(?:\r\n)?x-amz-trailer-signature:)\w*/

/** Lengths and signatures are put right for what chance made of the rest. */
function repaired(input: Buffer, random: Random): Buffer {
  const said = saidIn(input)
  if (said === undefined) return input
  const { form, pieceBytes, body } = said
  const text = body.toString('latin1')
  const pieces: string[] = []
  let previous = SIGNING.seed
  let length = 0
  let at = 0
  for (
    let head: RegExpExecArray | null;
    (head = /^([0-9a-f]{1,5})(;chunk-signature=)?([^\r]{0,64})\r\n/i.exec(text.slice(at, at + 99)));
  ) {
    const [line, size = '', mark = '', rest = ''] = head
    const count = Number.parseInt(size, 16)
    const bytes = text.slice(at + line.length, at + line.length + count)
    at += line.length + bytes.length
    length += bytes.length
    previous = chunkSignature(SIGNING, previous, Buffer.from(bytes, 'latin1'))
    pieces.push(`${size}${mark}${mark === '' ? rest : previous}\r\n${bytes}`)
    if (count === 0) break
    pieces.push(text.slice(at, at + 2))
    at += 2
  }
  const tail = text.slice(at).replace(SIGNED_TRAILER, (_, name, value, between) => {
    const line = [String(name).trim().toLowerCase(), String(value).trim()] as const
    return `${name}:${value}${between}${trailerSignatureOf(SIGNING, previous, [line])}`
  })
  const number = CHUNK_FORMS.indexOf(form)
  const decodedLength = random.below(8) === 0 ? said.decodedLength : length
  return inputOf(number, decodedLength, pieceBytes - 1, Buffer.from(pieces.join('') + tail, 'latin1'))
}

interface Read {
  readonly payload: Buffer
  readonly trailer: string | undefined
}

function read({ form, decodedLength, body }: Said, pieceBytes: number): Read {
  const signatures =
    form === CHUNK_FORMS[2] ? undefined : new ChunkSignatures(KEY, SIGNING.timestamp, SCOPE, SIGNING.seed)
  const reader = new ChunkReader({ decodedLength, signatures, trailer: form === CHUNK_FORMS[0] ? undefined : TRAILER })
  const parts: Buffer[] = []
  let taken = 0
  for (let at = 0; at < body.length; at += pieceBytes) {
    // In memory of its own, as long as the piece: whatever is read beside it is another's.
    const piece = Buffer.from(body.subarray(at, at + pieceBytes))
    reader.take(piece, (part) => {
      parts.push(Buffer.from(part))
      taken += part.length
      mustHold(taken <= decodedLength, 'more was handed on than is declared')
    })
    piece.fill(0)
  }
  const trailer = reader.end()
  return { payload: Buffer.concat(parts), trailer }
}

function judge(input: Buffer): Verdict {
  const said = saidIn(input)
  if (said === undefined) return refused('no first line')
  const { form, decodedLength, body } = said
  const pieceBytes = Math.max(said.pieceBytes, Math.ceil(body.length / PIECES_MAXIMUM))
  const answer = s3Answer(() => read(said, pieceBytes))
  const whole = s3Answer(() => read(said, body.length + 1))
  const trailer = form === CHUNK_FORMS[0] ? undefined : TRAILER
  const signing = form === CHUNK_FORMS[2] ? undefined : SIGNING
  const expected = naiveChunks(body.toString('latin1'), { decodedLength, signing, trailer })
  mustHold('value' in answer === 'value' in whole, 'pieces of another size have another answer')
  if (!('value' in answer) || !('value' in whole)) {
    mustHold(expected === undefined, `refused what is right: ${'code' in answer ? answer.code : ''}`)
    return refused(`${CHUNK_FORMS.indexOf(form)} ${'code' in answer ? answer.code : ''}`)
  }
  mustHold(expected !== undefined, 'let in what is not right')
  mustHold(expected !== undefined && expected.payload.equals(answer.value.payload), 'another payload')
  mustHold(answer.value.payload.equals(whole.value.payload), 'another payload in other pieces')
  mustBeSame([answer.value.trailer, whole.value.trailer], [expected?.trailer, expected?.trailer], 'the trailer')
  return accepted(`${CHUNK_FORMS.indexOf(form)} taken`)
}

const FORMS = [0, 1, 2] as const

export const CHUNK_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'chunked-body',
    seeds: FORMS.flatMap((form) => [
      made(form, 0, 8192),
      made(form, 5, 8192),
      made(form, 5, 8192, '\n\r\n'),
      made(form, 8200, 8192),
      made(form, 8192 + 8192 + 16, 8192),
      // A first chunk that is too small.
      made(form, 100, 60),
    ]),
    words: [
      ...wordsOf(
        '0 5 8 2000 1fff 2001 a F ; : , ;chunk-signature= chunk-signature= x-amz-trailer-signature: \r\n \n \r',
      ),
      '\r\n\r\n',
      '\n\r\n',
      '0\r\n',
      '0\r\n\r\n',
      `${TRAILER}:${SUM}\r\n`,
      TRAILER,
      SUM,
      'X-AMZ-CHECKSUM-CRC32',
      'x-amz-checksum-sha256:',
      ' ',
      '\t',
      'ffffffffffffffff',
      '00000000000000005',
      '-1',
      '+5',
      '0x5',
    ],
    bytesMaximum: BYTES_MAXIMUM,
    make: (random) =>
      made(
        random.of(FORMS),
        random.of([0, 0, 1, 1, 5, 5, 60, 8191, 8193, 16_500]),
        random.of([8192, 8191, 50, 20_000]),
        random.of(['\r\n', '\n\r\n']),
      ),
    repair: repaired,
    judge,
  },
]
