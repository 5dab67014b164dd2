/** Heads that say of their chunks what is not so, signed for and altered on the way. */
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { CHUNK_FORMS, type ChunkForm, encodedBody } from '../../../support/chunked-requests.ts'
import type { SpoiledChunks, Spoiling, WholeChunks } from './spoiling.ts'

const FORGED = ['SignatureDoesNotMatch']
const LENGTH = 'x-amz-decoded-content-length'
const TRAILER = 'x-amz-trailer'
const GIBIBYTE = 1024 ** 3

/** Changed by somebody who cannot sign. */
const onTheWay: Spoiling = (whole) => {
  const body = encodedBody(whole.parts)
  const changed = (
    name: string,
    codes: readonly string[],
    change: (line: HeaderLine) => HeaderLine[],
  ): SpoiledChunks => {
    return { name, headers: whole.request.headers.flatMap(change), body, codes }
  }
  const value = (name: string, text: string, codes = FORGED): SpoiledChunks =>
    changed(`${name} is ${JSON.stringify(text)}`, codes, (line) => [line[0] === name ? [name, text] : line])
  const { length } = whole.options.payload
  const forms = CHUNK_FORMS.filter((form) => form !== whole.form)
  return [
    changed('another seed', FORGED, ([name, text]) => [[name, text.replace(/Signature=./, otherSignature)]]),
    ...forms.map((form) => value('x-amz-content-sha256', form)),
    value('x-amz-content-sha256', 'UNSIGNED-PAYLOAD'),
    value('x-amz-content-sha256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'),
    value(LENGTH, String(length + 1)),
    value(LENGTH, String(length - 1)),
    changed('no decoded length', FORGED, (line) => (line[0] === LENGTH ? [] : [line])),
    changed('two decoded lengths', [...FORGED, 'InvalidArgument'], (line) =>
      line[0] === LENGTH ? [line, line] : [line],
    ),
    changed('a second trailer', [...FORGED, 'AccessDenied'], (line) =>
      line[0] === 'host' ? [line, [TRAILER, 'x-amz-checksum-crc32']] : [line],
    ),
    changed('metadata beside', ['AccessDenied'], (line) =>
      line[0] === 'host' ? [line, ['x-amz-meta-a', 'b']] : [line],
    ),
    changed('a checksum beside', ['AccessDenied'], (line) =>
      line[0] === 'host' ? [line, ['x-amz-checksum-crc32', 'AAAAAA==']] : [line],
    ),
  ]
}

function otherSignature(text: string): string {
  return text.endsWith('0') ? 'Signature=1' : 'Signature=0'
}

/** Signed by somebody who may sign. */
const asSigned: Spoiling = (whole) => {
  const { length } = whole.options.payload
  const lengths: readonly (readonly [text: string, code: string])[] = [
    [String(length + 1), 'IncompleteBody'],
    [String(length - 1), 'IncompleteBody'],
    ['0', 'IncompleteBody'],
    [String(5 * GIBIBYTE + 1), 'EntityTooLarge'],
    ['999999999999999', 'EntityTooLarge'],
    ...['', '-1', '1e4', '0x10', 'x', `${length}.0`, '18446744073709551616'].map(
      (text) => [text, 'MissingContentLength'] as const,
    ),
  ]
  const forms = CHUNK_FORMS.filter((form) => form !== whole.form)
  return [
    ...lengths.map(([text, code]) =>
      whole.head([code], `signed for ${LENGTH} ${JSON.stringify(text)}`, [[LENGTH, text]]),
    ),
    ...forms.map((form) => ({
      ...whole.body([...FORGED, 'IncompleteBody', 'MalformedTrailerError'], `signed for ${form}`, whole.parts),
      headers: whole.like({ form }).request.headers,
    })),
    foreign(whole, 'UNSIGNED-PAYLOAD', 'InvalidArgument'),
    foreign(whole, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'InvalidArgument'),
    foreign(whole, 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'NotImplemented'),
    foreign(whole, 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER', 'NotImplemented'),
    foreign(whole, 'STREAMING-AWS4-HMAC-SHA256-EVENTS', 'NotImplemented'),
    whole.head(['BadDigest'], 'the MD5 of something else', [['content-md5', 'AAAAAAAAAAAAAAAAAAAAAA==']]),
    ...(whole.hasTrailer ? trailersAsSigned(whole) : trailerWhereNoneIs(whole)),
  ]
}

/** Signed for a form that is none of those which are read. */
function foreign(whole: WholeChunks, form: string, code: string): SpoiledChunks {
  const { headers, parts } = whole.like({ form: form as ChunkForm }).request
  return { ...whole.body([code], `signed for ${form.slice(0, 40)}`, parts), headers }
}

const trailersAsSigned: Spoiling = (whole) => [
  {
    ...whole.head(['MalformedTrailerError'], 'no trailer, announced or sent', [[TRAILER, '']]),
    body: encodedBody({
      ...whole.like({ headers: [...(whole.options.headers ?? []), [TRAILER, '']] }).parts,
      trailers: [],
      trailerSignature: undefined,
    }),
  },
  whole.head(['MalformedTrailerError'], 'a trailer without a name', [[TRAILER, '']]),
  whole.head(['MalformedTrailerError'], 'a trailer of another name', [[TRAILER, 'x-amz-checksum-crc32']]),
  whole.head(['InvalidRequest'], 'a trailer that nobody knows', [[TRAILER, 'x-amz-checksum-md4']]),
  whole.head(['InvalidRequest'], 'metadata in the trailer', [[TRAILER, 'x-amz-meta-a']]),
  whole.head(['InvalidRequest'], 'two trailers', [[TRAILER, 'x-amz-checksum-sha256,x-amz-checksum-crc32']]),
  whole.head(['InvalidRequest'], 'a checksum in the head too', [['x-amz-checksum-crc32', 'AAAAAA==']]),
  whole.head(['InvalidRequest'], 'another algorithm announced', [['x-amz-sdk-checksum-algorithm', 'CRC32']]),
]

const trailerWhereNoneIs: Spoiling = (whole) => [
  whole.head(['InvalidRequest'], 'a trailer that the form has not', [[TRAILER, 'x-amz-checksum-sha256']]),
  whole.head(['BadDigest'], 'the checksum of something else', [['x-amz-checksum-crc32', 'AAAAAA==']]),
]

export const HEAD_SPOILINGS: readonly Spoiling[] = [onTheWay, asSigned]
