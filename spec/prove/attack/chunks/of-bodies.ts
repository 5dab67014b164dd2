/** Bodies in chunks that were right and are spoiled: every byte that counts, its order, its framing, its end. */
import { chunkSignature, encodedBody, trailerSignatureOf } from '../../../support/chunked-requests.ts'
import { flipped, otherDigit, replacedAt, type SpoiledChunks, type Spoiling, type WholeChunks } from './spoiling.ts'

const FORGED = ['SignatureDoesNotMatch']
const BROKEN = ['IncompleteBody']
const TRAILER = ['MalformedTrailerError']
const MINUTE = 60_000

/** What is found out by a signature where there is one, and otherwise by the checksum at the end. */
function altered(whole: WholeChunks): string[] {
  return whole.isSigned ? FORGED : ['BadDigest']
}

const bytesOfChunks: Spoiling = (whole) => {
  const codes = altered(whole)
  const { chunks } = whole.parts
  const flips = chunks
    .slice(0, -1)
    .flatMap(({ bytes }, index) =>
      [0, bytes.length - 1].map((at) =>
        whole.chunks(codes, `bit of byte ${at} of chunk ${index + 1}`, (all) =>
          replacedAt(all, index, (chunk) => ({ ...chunk, bytes: flipped(chunk.bytes, at) })),
        ),
      ),
    )
  const [first, second] = chunks
  if (first === undefined || second === undefined) throw new Error('a body for the attack has two chunks')
  return [
    ...flips,
    whole.chunks(codes, 'two chunks exchanged', (all) => [second, first, ...all.slice(2)]),
    whole.chunks(codes, 'bytes of two chunks exchanged', (all) => [
      { ...first, bytes: second.bytes },
      { ...second, bytes: first.bytes },
      ...all.slice(2),
    ]),
    whole.chunks(codes, 'a chunk in place of another', (all) => [first, first, ...all.slice(2)]),
    whole.chunks([...FORGED, ...BROKEN], 'a chunk left out', (all) => [first, ...all.slice(2)]),
    whole.chunks([...FORGED, ...BROKEN], 'a chunk twice', (all) => [first, ...all]),
    whole.body(BROKEN, 'a chunk left out, signed so', whole.with([first.bytes, ...whole.pieces.slice(2)])),
    whole.body(BROKEN, 'a chunk twice, signed so', whole.with([first.bytes, ...whole.pieces])),
    whole.body(BROKEN, 'the final chunk first, signed so', whole.with([Buffer.alloc(0), ...whole.pieces])),
    whole.body(
      ['IncompleteBody', ...TRAILER],
      'chunks after the final one',
      whole.with([...whole.pieces, first.bytes]),
    ),
  ]
}

const signatures: Spoiling = (whole) => {
  const { signing, parts } = whole
  if (signing === undefined) return []
  const { chunks } = parts
  const other = whole.like({ now: (whole.options.now ?? Date.now()) - MINUTE })
  const wrong = chunks.map((_, index) =>
    whole.chunks(FORGED, `another signature of chunk ${index + 1}`, (all) =>
      replacedAt(all, index, (chunk) => ({ ...chunk, signature: otherDigit(chunk.signature ?? '') })),
    ),
  )
  const spelled = (name: string, change: (signature: string) => string): SpoiledChunks =>
    whole.chunks(BROKEN, name, (all) =>
      replacedAt(all, 1, (chunk) => ({ ...chunk, signature: change(chunk.signature ?? '') })),
    )
  const spliced = other.parts.chunks[1]
  const signedWith = (name: string, changes: Partial<typeof signing>): SpoiledChunks => {
    const own = { ...signing, ...changes }
    let previous = own.seed
    return whole.chunks(FORGED, name, (all) =>
      all.map((chunk) => {
        previous = chunkSignature(own, previous, chunk.bytes)
        return { ...chunk, signature: previous }
      }),
    )
  }
  return [
    ...wrong,
    spelled('a signature in capitals', (text) => text.toUpperCase()),
    spelled('half a signature', (text) => text.slice(0, 32)),
    spelled('an empty signature', () => ''),
    spelled('a signature with more behind it', (text) => `${text}00`),
    whole.chunks(BROKEN, 'a chunk without a signature', (all) =>
      replacedAt(all, 1, (chunk) => ({ ...chunk, signature: undefined })),
    ),
    whole.chunks(BROKEN, 'no chunk has a signature', (all) => all.map((chunk) => ({ ...chunk, signature: undefined }))),
    whole.chunks(FORGED, 'the signature of the chunk before', (all) =>
      replacedAt(all, 1, (chunk) => ({ ...chunk, signature: chunks[0]?.signature })),
    ),
    whole.chunks(FORGED, 'a chunk of another request', (all) => replacedAt(all, 1, (chunk) => spliced ?? chunk)),
    whole.body(FORGED, 'the body of another request', other.parts),
    signedWith('chunks signed by somebody else', { secretKey: 'the-secret-of-somebody-else' }),
    signedWith('chunks signed for another region', { region: 'eu-west-1' }),
    signedWith('chunks signed on another day', { timestamp: '20200101T000000Z' }),
    signedWith('chunks that follow from no request', { seed: '0'.repeat(64) }),
  ]
}

const framing: Spoiling = (whole) => {
  const { chunks } = whole.parts
  const sized = (size: string, codes: readonly string[] = BROKEN): SpoiledChunks =>
    whole.chunks(codes, `a chunk of size ${JSON.stringify(size.slice(0, 20))}`, (all) =>
      replacedAt(all, 1, (chunk) => ({ ...chunk, size })),
    )
  const length = chunks[1]?.bytes.length ?? 0
  const text = encodedBody(whole.parts).toString('latin1')
  const rewritten = (name: string, change: (text: string) => string, codes: readonly string[] = BROKEN) =>
    whole.body(codes, name, Buffer.from(change(text), 'latin1'))
  const headEnd = text.indexOf('\r\n')
  return [
    sized((length + 1).toString(16), [...FORGED, ...BROKEN]),
    sized((length - 1).toString(16), [...FORGED, ...BROKEN]),
    ...['', '-1', '+10', '0x10', ' 10', '10 ', '1_0', 'g', '1e+3', 'f'.repeat(16), '0'.repeat(17)].map((size) =>
      sized(size),
    ),
    sized('0'.repeat(200_000)),
    rewritten('a head with an extension', (all) => `${all.slice(0, headEnd)};a=b${all.slice(headEnd)}`),
    rewritten('a head that ends in LF', (all) => all.slice(0, headEnd) + all.slice(headEnd + 1)),
    rewritten('a head with a blank before its end', (all) => `${all.slice(0, headEnd)} ${all.slice(headEnd)}`),
    rewritten('an empty line before the first chunk', (all) => `\r\n${all}`),
    rewritten('no line end after a chunk', (all) => without(all, headEnd + 2 + (chunks[0]?.bytes.length ?? 0), 2)),
    rewritten('other bytes for the line end after a chunk', (all) => {
      const at = headEnd + 2 + (chunks[0]?.bytes.length ?? 0)
      return `${all.slice(0, at)}xx${all.slice(at + 2)}`
    }),
    rewritten('LF after a chunk', (all) => without(all, headEnd + 2 + (chunks[0]?.bytes.length ?? 0), 1)),
    rewritten('a byte after the end', (all) => `${all}x`, [...BROKEN, ...TRAILER]),
    rewritten('another end after the end', (all) => `${all}0\r\n\r\n`, [...BROKEN, ...TRAILER]),
    rewritten('a megabyte after the end', (all) => all + 'x'.repeat(1024 ** 2), [...BROKEN, ...TRAILER]),
    rewritten('the plain bytes', () => whole.options.payload.toString('latin1')),
    rewritten('nothing', () => ''),
  ]
}

function without(text: string, at: number, count: number): string {
  return text.slice(0, at) + text.slice(at + count)
}

/** Ends at each place that means something. */
const ends: Spoiling = (whole) => {
  const bytes = encodedBody(whole.parts)
  const { chunks } = whole.parts
  /** Bytes of so many chunks. */
  const length = (count: number): number => {
    const begun = { ...whole.parts, chunks: chunks.slice(0, count), trailers: [], trailerSignature: undefined }
    return encodedBody(begun).length - 2
  }
  const first = length(1)
  const final = length(chunks.length - 1)
  const places: readonly (readonly [name: string, at: number])[] = [
    ['in the first head', 2],
    ['in the first chunk', 2000],
    ['before the line end of the first chunk', first - 2],
    ['after the first chunk', first],
    ['before the final chunk', final],
    ['in the head of the final chunk', final + 1],
    ['two bytes early', bytes.length - 2],
    ['a byte early', bytes.length - 1],
  ]
  return places.map(([name, at]) => whole.body([...BROKEN, ...TRAILER], `ends ${name}`, bytes.subarray(0, at)))
}

const sizes: Spoiling = (whole) => {
  const { payload } = whole.options
  const split = (...at: readonly number[]) => {
    const edges = [0, ...at, payload.length]
    const pieces = edges.slice(1).map((end, index) => payload.subarray(edges[index], end))
    return whole.with([...pieces, Buffer.alloc(0)])
  }
  return [
    whole.body(['InvalidChunkSizeError'], 'a first chunk of 1 byte', split(1)),
    whole.body(['InvalidChunkSizeError'], 'a first chunk of 8,191 bytes', split(8191)),
    whole.body(['InvalidChunkSizeError'], 'a second chunk of 100 bytes', split(8192, 8292)),
  ]
}

const trailers: Spoiling = (whole) => {
  const { signing, parts } = whole
  const [trailer] = parts.trailers
  if (trailer === undefined) {
    const lines = { ...parts, trailers: [['x-amz-checksum-crc32', 'AAAAAA==']] as const }
    return [whole.body(BROKEN, 'a trailer that the form has not', lines)]
  }
  const [name, value] = trailer
  const other = [name, otherValue(value)] as const
  const again = (title: string, lines: readonly (readonly [string, string])[], codes: readonly string[]) =>
    whole.body(codes, title, whole.with(whole.pieces, lines))
  const asIs = (title: string, changes: Partial<typeof parts>, codes: readonly string[]) =>
    whole.body(codes, title, { ...parts, ...changes })
  const common = [
    again('another sum', [other], ['BadDigest']),
    again('no sum', [[name, '']], ['InvalidRequest']),
    again('a sum that is not base64', [[name, '!!!!']], ['InvalidRequest']),
    again('a sum of another length', [[name, 'AAAA']], ['InvalidRequest']),
    again('no trailer', [], TRAILER),
    again('the trailer twice', [trailer, trailer], TRAILER),
    again('the trailer twice, different', [other, trailer], TRAILER),
    again('another trailer beside it', [trailer, ['x-amz-meta-a', 'b']], TRAILER),
    again('another trailer before it', [['content-type', 'text/html'], trailer], TRAILER),
    again('the sum of another algorithm', [['x-amz-checksum-crc32', 'AAAAAA==']], TRAILER),
    again('a trailer without a name', [['', value]], TRAILER),
    whole.body(TRAILER, 'a line without a colon', replacedText(encodedBody(parts), `${name}:`, name)),
    asIs('a trailer of 4,000 bytes', { trailers: [[name, value + 'A'.repeat(4000)]] }, [
      ...TRAILER,
      ...BROKEN,
      ...FORGED,
    ]),
  ]
  if (signing === undefined) {
    return [...common, asIs('a signature where none is', { trailerSignature: 'a'.repeat(64) }, TRAILER)]
  }
  const previous = parts.chunks.at(-1)?.signature ?? ''
  const elsewhere = whole.like({ now: (whole.options.now ?? Date.now()) - MINUTE }).parts
  const before = trailerSignatureOf(signing, parts.chunks[0]?.signature ?? '', parts.trailers)
  const asChunk = chunkSignature(signing, previous, Buffer.from(`${name}:${value}\n`))
  return [
    ...common,
    asIs('another sum, signature as it was', { trailers: [other] }, FORGED),
    asIs('another signature of the trailer', { trailerSignature: otherDigit(parts.trailerSignature ?? '') }, FORGED),
    asIs('an empty signature of the trailer', { trailerSignature: '' }, [...FORGED, ...TRAILER]),
    asIs('no signature of the trailer', { trailerSignature: undefined }, TRAILER),
    asIs('the signature of the trailer of another request', { trailerSignature: elsewhere.trailerSignature }, FORGED),
    asIs('a trailer that follows from another chunk', { trailerSignature: before }, FORGED),
    asIs('a trailer that is signed as a chunk', { trailerSignature: asChunk }, FORGED),
  ]
}

function replacedText(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1')
}

function otherValue(sum: string): string {
  const bytes = Buffer.from(sum, 'base64')
  return flipped(bytes, 0).toString('base64')
}

export const BODY_SPOILINGS: readonly Spoiling[] = [bytesOfChunks, signatures, framing, ends, sizes, trailers]
