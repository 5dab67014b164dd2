/**
 * A body in chunks, read by the words of the S3 API reference ("Transferring Payload in Multiple Chunks", "Including Trailing
 * Headers") as one text, without a line of the server's own reader.
 */
import { chunkSignature, type ChunkSigning, trailerSignatureOf } from '../../support/chunked-requests.ts'

export interface NaiveRules {
  readonly decodedLength: number
  /** Undefined where chunks are not signed. */
  readonly signing: ChunkSigning | undefined
  readonly trailer: string | undefined
}

export interface NaiveBody {
  readonly payload: Buffer
  readonly trailer: string | undefined
}

/** One byte a character. Undefined for what must be refused. */
export function naiveChunks(text: string, { decodedLength, signing, trailer }: NaiveRules): NaiveBody | undefined {
  const pieces: string[] = []
  let previous = signing?.seed ?? ''
  let at = 0
  for (;;) {
    const end = text.indexOf('\n', at)
    if (end === -1 || text[end - 1] !== '\r' || end - 1 < at) return undefined
    const [size = '', ...rest] = text.slice(at, end - 1).split(';')
    if (size.length < 1 || size.length > 16 || [...size].some((digit) => !'0123456789abcdefABCDEF'.includes(digit))) {
      return undefined
    }
    const count = BigInt(`0x${size}`)
    if (count > BigInt(decodedLength)) return undefined
    const bytes = text.slice(end + 1, end + 1 + Number(count))
    if (bytes.length !== Number(count)) return undefined
    if (signing === undefined ? rest.length !== 0 : rest.length !== 1) return undefined
    if (signing !== undefined) {
      previous = chunkSignature(signing, previous, Buffer.from(bytes, 'latin1'))
      if (rest[0] !== `chunk-signature=${previous}`) return undefined
    }
    at = end + 1 + bytes.length
    if (bytes === '') break
    if (text.slice(at, at + 2) !== '\r\n') return undefined
    at += 2
    pieces.push(bytes)
  }
  const payload = Buffer.from(pieces.join(''), 'latin1')
  if (payload.length !== decodedLength) return undefined
  if (pieces.slice(0, -1).some(({ length }) => length < 8192)) return undefined
  const tail = text.slice(at)
  if (trailer === undefined) return tail === '\r\n' ? { payload, trailer } : undefined
  const value = naiveTrailer(tail, trailer, signing, previous)
  return value === undefined ? undefined : { payload, trailer: value }
}

const SIGNATURE = 'x-amz-trailer-signature:'

function naiveTrailer(
  tail: string,
  trailer: string,
  signing: ChunkSigning | undefined,
  previous: string,
): string | undefined {
  if (tail.length > 1024 || !tail.endsWith('\r\n')) return undefined
  let text = tail.slice(0, -2)
  let signature: string | undefined
  if (signing !== undefined) {
    const at = text.lastIndexOf(SIGNATURE)
    if (at === -1 || !text.endsWith('\r\n')) return undefined
    signature = text.slice(at + SIGNATURE.length, -2)
    text = text.slice(0, at)
  }
  if (text.endsWith('\n\r\n')) text = text.slice(0, -2)
  const lines = text.split('\n')
  if (lines.length !== 2 || lines[1] !== '') return undefined
  const line = lines[0]?.endsWith('\r') ? lines[0].slice(0, -1) : (lines[0] ?? '')
  if (line.includes('\r') || !line.includes(':')) return undefined
  const name = withoutBlanks(line.slice(0, line.indexOf(':'))).toLowerCase()
  const value = withoutBlanks(line.slice(line.indexOf(':') + 1))
  if (name !== trailer) return undefined
  if (signing === undefined) return value
  return signature === trailerSignatureOf(signing, previous, [[name, value]]) ? value : undefined
}

function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && ' \t'.includes(text[start] ?? 'x')) start += 1
  while (end > start && ' \t'.includes(text[end - 1] ?? 'x')) end -= 1
  return text.slice(start, end)
}
