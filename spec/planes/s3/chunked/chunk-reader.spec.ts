/** The reader of bodies in chunks: AWS's published examples, pieces of any size, and how much it keeps. */
import { test } from 'tap'
import { ChunkReader } from '../../../../planes/s3/bodies/chunk-reader.ts'
import { ChunkSignatures } from '../../../../planes/s3/signing/chunk-signatures.ts'
import { deriveSigningKey } from '../../../../planes/s3/signing/signature-v4.ts'
import { encodedBody, signedParts } from '../../../support/chunked-requests.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { CREDENTIAL } from '../identity/signing.ts'
import { refusalCode } from '../wire-request.ts'

const SCOPE = { date: '20130524', region: 'us-east-1' }
const TIMESTAMP = '20130524T000000Z'

/** The example of "Transferring Payload in Multiple Chunks": 65 KiB of the letter a. */
const EXAMPLE = {
  seed: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  chunks: [
    'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
    '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
    'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
  ],
  trailer: undefined,
}
/** That of "Including Trailing Headers". */
const EXAMPLE_WITH_TRAILER = {
  seed: '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
  chunks: [
    'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
    '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
    '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
  ],
  trailer: 'd81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435',
}
const SUM = 'sOO8/Q=='
const EXAMPLE_BYTES = Buffer.alloc(66_560, 'a')

function signatures(seed: string): ChunkSignatures {
  return new ChunkSignatures(deriveSigningKey(CREDENTIAL.secretKey, SCOPE), TIMESTAMP, SCOPE, seed)
}

function bodyOf({ chunks, trailer }: typeof EXAMPLE | typeof EXAMPLE_WITH_TRAILER): Buffer {
  const pieces = [EXAMPLE_BYTES.subarray(0, 65_536), EXAMPLE_BYTES.subarray(65_536), Buffer.alloc(0)]
  return encodedBody({
    chunks: pieces.map((bytes, index) => ({ size: bytes.length.toString(16), bytes, signature: chunks[index] })),
    trailers: trailer === undefined ? [] : [['x-amz-checksum-crc32c', SUM]],
    trailerSignature: trailer,
    lineEnd: '\r\n',
  })
}

interface Read {
  readonly bytes: Buffer
  readonly trailer: string | undefined
}

function read(reader: ChunkReader, body: Buffer, pieceBytes: number): Read {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += pieceBytes) {
    reader.take(body.subarray(at, at + pieceBytes), (part) => void parts.push(Buffer.from(part)))
  }
  return { trailer: reader.end(), bytes: Buffer.concat(parts) }
}

test("AWS's examples, in pieces of every size", async (t) => {
  for (const example of [EXAMPLE, EXAMPLE_WITH_TRAILER]) {
    const trailer = example.trailer === undefined ? undefined : 'x-amz-checksum-crc32c'
    const body = bodyOf(example)
    for (const pieceBytes of [1, 2, 3, 64, 99, 100, 65_536, 65_633, body.length - 1, body.length]) {
      const reader = new ChunkReader({ decodedLength: 66_560, signatures: signatures(example.seed), trailer })
      const got = read(reader, body, pieceBytes)
      t.ok(got.bytes.equals(EXAMPLE_BYTES), `by ${pieceBytes}`)
      t.equal(got.trailer, trailer && SUM)
    }
  }
})

test('a trailer as the libraries of MinIO end it, with blanks, with a name in capitals', async (t) => {
  const lines = ['\n\r\n', '\r\n', '\n'].flatMap((end) => [`x-amz-checksum-crc32c:${SUM}${end}`])
  for (const line of [...lines, `X-Amz-Checksum-Crc32c : \t${SUM} \r\n`]) {
    for (const isSigned of [false, true]) {
      const body = bodyOf(EXAMPLE_WITH_TRAILER).toString('latin1')
      const [head = ''] = body.split('x-amz-checksum')
      const plain = head.replaceAll(/;chunk-signature=\w+/g, '')
      const signature = `x-amz-trailer-signature:${EXAMPLE_WITH_TRAILER.trailer}\r\n`
      const text = isSigned ? `${head}${line}${signature}\r\n` : `${plain}${line}\r\n`
      const chain = isSigned ? signatures(EXAMPLE_WITH_TRAILER.seed) : undefined
      const reader = new ChunkReader({ decodedLength: 66_560, signatures: chain, trailer: 'x-amz-checksum-crc32c' })
      t.equal(read(reader, Buffer.from(text, 'latin1'), 1000).trailer, SUM, JSON.stringify(line))
    }
  }
})

function unsigned(decodedLength: number, trailer?: string): ChunkReader {
  return new ChunkReader({ decodedLength, signatures: undefined, trailer })
}

/** Bytes that a reader took before it refused; undefined when it took all. */
function takenOf(reader: ChunkReader, start: string, filler: string, bytes: number): number | undefined {
  const piece = Buffer.alloc(64, filler)
  if (start !== '') reader.take(Buffer.from(start), () => {})
  for (let taken = 0; taken < bytes; taken += piece.length) {
    if (refusalCode(() => reader.take(piece, () => {})) !== undefined) return taken
  }
  return undefined
}

test('a head and a trailer that do not end are refused after as much as one can have', async (t) => {
  t.ok((takenOf(unsigned(10), '', '0', 10_000) ?? Infinity) <= 128, 'a size')
  t.ok((takenOf(unsigned(10), '1;', 'x', 10_000) ?? Infinity) <= 128, 'an extension')
  const after = takenOf(unsigned(0, 'x-amz-checksum-crc32'), '0\r\n', 'x', 100_000)
  t.ok((after ?? Infinity) <= 1024, 'a trailer')
  t.ok((takenOf(unsigned(0), '0\r\n', '\r', 100_000) ?? Infinity) <= 1024, 'the end')
})

test('a chunk of gigabytes passes through, and is checked at its end', async (t) => {
  const piece = sampleBytes(1024 ** 2)
  const count = 300
  const decodedLength = piece.length * count
  const seed = '0'.repeat(64)
  const reader = new ChunkReader({ decodedLength, signatures: signatures(seed), trailer: undefined })
  let taken = 0
  const handOn = (part: Buffer): void => void (taken += part.length)
  reader.take(Buffer.from(`${decodedLength.toString(16)};chunk-signature=${seed}\r\n`), handOn)
  const before = process.memoryUsage()
  for (let index = 1; index < count; index += 1) reader.take(piece, handOn)
  const after = process.memoryUsage()
  const grown = after.arrayBuffers + after.external - before.arrayBuffers - before.external
  t.ok(grown < 4 * piece.length, `${grown} bytes more`)
  t.equal(taken, piece.length * (count - 1), 'handed on as they came')
  t.equal(
    refusalCode(() => reader.take(piece, handOn)),
    'SignatureDoesNotMatch',
    'and its signature is looked at when it is whole',
  )
})

test('pieces are handed on as they are, without a copy', async (t) => {
  const payload = sampleBytes(100_000)
  const body = encodedBody(
    signedParts(
      'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      [payload, Buffer.alloc(0)],
      [['x-amz-checksum-crc32', 'AAAAAA==']],
      {
        secretKey: '',
        region: '',
        timestamp: '',
        seed: '',
      },
    ),
  )
  const parts: Buffer[] = []
  const reader = unsigned(payload.length, 'x-amz-checksum-crc32')
  reader.take(body, (part) => void parts.push(part))
  t.equal(parts.length, 1)
  t.equal(parts[0]?.buffer, body.buffer)
})
