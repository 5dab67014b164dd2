/** Clumsy clients: requests of S3 that are malformed, too large or not what they say, each refused by its name, and changing nothing. */
import * as fc from 'fast-check'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import { S3_ERRORS } from '../../../planes/s3/errors/s3-errors.ts'
import { compare } from '../../model/comparison.ts'
import { targetOf } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { type ChunkedRequest, type ChunkForm } from '../../support/chunked-requests.ts'
import { chunkedFor, sendChunked } from '../../support/chunked-sends.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { RawRequest, WireAnswer } from '../../support/wire-client.ts'
import type { WorldServer } from './world-server.ts'
import { worldOf } from './world-store.ts'

const MEBIBYTE = 1024 ** 2
const REQUESTS_MAXIMUM = 10
/** A key that no step of the model writes. */
const KEY = 'clumsy'
const MD5_OF_NOTHING = '1B2M2Y8AsgTpgAmY7PhCfg=='
const LARGEST_PUT = 5 * 1024 ** 3
const CHUNKS: readonly ChunkForm[] = [
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
]

/** Sends one to a bucket that is there. */
type Sending = (server: WorldServer, bucket: string, random: Random) => Promise<WireAnswer>
type Row = readonly [what: string, code: S3ErrorCode, send: Sending]

function raw(method: string, path: (bucket: string, random: Random) => string, options: RawRequest = {}): Sending {
  return (server, bucket, random) => server.raw(method, path(bucket, random), options)
}

const toKey = (bucket: string) => `/${bucket}/${KEY}`
const toBucket = (query: string) => (bucket: string) => `/${bucket}?${query}`

function putWith(headers: readonly HeaderLine[], body = 'a body'): Sending {
  return raw('PUT', toKey, { headers, body })
}

/** Of a write whose body is in chunks, after something is done to it. */
function chunked(
  spoil: (request: ChunkedRequest) => ChunkedRequest,
  bytes = 20_000,
  form = CHUNKS[0] as ChunkForm,
): Sending {
  return (server, bucket) => {
    const request = chunkedFor(server, toKey(bucket), { form, payload: sampleBytes(bytes, 3), chunkBytes: 8192 })
    return sendChunked(server, toKey(bucket), spoil(request))
  }
}

function withParts(change: (parts: ChunkedRequest['parts']) => Partial<ChunkedRequest['parts']>) {
  return (request: ChunkedRequest): ChunkedRequest => ({
    ...request,
    parts: { ...request.parts, ...change(request.parts) },
  })
}

function preflight(origin: string | undefined, method: string | undefined): Sending {
  const lines: HeaderLine[] = []
  if (origin !== undefined) lines.push(['origin', origin])
  if (method !== undefined) lines.push(['access-control-request-method', method])
  return raw('OPTIONS', (bucket, random) => (random.below(2) === 0 ? toKey(bucket) : `/${bucket}`), {
    headers: lines,
    sign: false,
  })
}

function document(subresource: string, body: string): Sending {
  return raw('PUT', toBucket(subresource), { body })
}

/** Without a length: neither it nor chunks are announced. */
const lengthless: Sending = ({ wire }, bucket) => {
  const headers = wire.headersOf('PUT', toKey(bucket), { body: 'a body' })
  return wire.exchange('PUT', toKey(bucket), [...headers, ['transfer-encoding', 'chunked']], Buffer.from('a body'))
}

/** The longest metadata is 2048 bytes of names and values, and the longest key 1024 (S3 user guide). */
const ROWS: readonly Row[] = [
  ['another MD5', 'BadDigest', putWith([['content-md5', MD5_OF_NOTHING]])],
  ['no MD5', 'InvalidDigest', putWith([['content-md5', 'c2hvcnQ=']])],
  [
    'another SHA-256',
    'XAmzContentSHA256Mismatch',
    raw('PUT', toKey, { body: 'a body', sign: { payloadHash: '0'.repeat(64) } }),
  ],
  [
    'a body above the largest',
    'EntityTooLarge',
    raw('PUT', toKey, { unsignedHeaders: [['content-length', String(LARGEST_PUT + 1)]] }),
  ],
  ['no length', 'MissingContentLength', lengthless],
  ['a key of 1025 bytes', 'KeyTooLongError', raw('PUT', (bucket) => `/${bucket}/${'k'.repeat(1025)}`)],
  [
    'a key of 1025 bytes that is read',
    'KeyTooLongError',
    raw('GET', (bucket) => `/${bucket}/${'%C3%BC'.repeat(512)}k`),
  ],
  ['half a percent escape', 'InvalidURI', raw('GET', (bucket) => `/${bucket}/%z`, { sign: false })],
  ['no bucket', 'InvalidURI', raw('GET', () => '//key')],
  ['metadata of 2049 bytes', 'MetadataTooLarge', putWith([['x-amz-meta-note', 'm'.repeat(2045)]])],
  [
    'no name of a bucket',
    'InvalidBucketName',
    raw('PUT', (_, random) => random.of(['/No_Name', '/ab', `/${'b'.repeat(64)}`, '/a..b', '/1.2.3.4'])),
  ],
  [
    'no region',
    'InvalidLocationConstraint',
    raw('PUT', () => '/another-bucket', {
      body: '<CreateBucketConfiguration><LocationConstraint>no where</LocationConstraint></CreateBucketConfiguration>',
    }),
  ],
  [
    'versioning without a status',
    'IllegalVersioningConfigurationException',
    document('versioning', '<VersioningConfiguration/>'),
  ],
  ['no document', 'MalformedXML', document('versioning', 'Enabled')],
  [
    'a document above the largest',
    'MaxMessageLengthExceeded',
    document('versioning', `<VersioningConfiguration>${' '.repeat(MEBIBYTE)}</VersioningConfiguration>`),
  ],
  [
    'a retention of no days',
    'InvalidRetentionPeriod',
    document(
      'object-lock',
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>0</Days></DefaultRetention></Rule></ObjectLockConfiguration>',
    ),
  ],
  ['part 0', 'InvalidArgument', raw('PUT', (bucket) => targetOf(bucket, KEY, { partNumber: 0, uploadId: 'x' }))],
  [
    'part 10001',
    'InvalidArgument',
    raw('PUT', (bucket) => targetOf(bucket, KEY, { partNumber: 10_001, uploadId: 'x' })),
  ],
  [
    'an upload that never was',
    'NoSuchUpload',
    raw('PUT', (bucket) => targetOf(bucket, KEY, { partNumber: 1, uploadId: 'x' }), { body: 'a part' }),
  ],
  [
    'half an Authorization',
    'AuthorizationHeaderMalformed',
    raw('GET', toKey, { sign: false, headers: [['authorization', 'AWS4-HMAC-SHA256 Credential=a']] }),
  ],
  [
    'half a signature in the query',
    'AuthorizationQueryParametersError',
    raw('GET', (bucket) => `${toKey(bucket)}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a`, { sign: false }),
  ],
  ['a preflight of no origin', 'BadRequest', preflight(undefined, 'GET')],
  ['a preflight of no method', 'BadRequest', preflight('https://one.example', undefined)],
  ['a preflight of a strange origin', 'AccessForbidden', preflight('http://strange.test', 'GET')],
  ['a preflight of a method that no rule has', 'AccessForbidden', preflight('https://one.example', 'DELETE')],
  [
    'a first chunk that is too small',
    'InvalidChunkSizeError',
    (server, bucket) => {
      const request = chunkedFor(server, toKey(bucket), {
        form: CHUNKS[0] as ChunkForm,
        payload: sampleBytes(20_000, 3),
        chunkBytes: 8191,
      })
      return sendChunked(server, toKey(bucket), request)
    },
  ],
  [
    'a chunk that was changed',
    'SignatureDoesNotMatch',
    chunked(
      withParts(({ chunks }) => ({
        chunks: chunks.with(1, { ...(chunks[1] as (typeof chunks)[0]), bytes: Buffer.alloc(8192) }),
      })),
    ),
  ],
  [
    'chunks of fewer bytes than were announced',
    'IncompleteBody',
    chunked(withParts(({ chunks }) => ({ chunks: chunks.slice(0, -2) }))),
  ],
  [
    'no trailer after chunks',
    'MalformedTrailerError',
    chunked(
      withParts(() => ({ trailers: [], trailerSignature: undefined })),
      20_000,
      CHUNKS[1],
    ),
  ],
]

/** Some of the rows. */
class Clumsy extends Step {
  readonly #seed: number

  constructor(seed: number) {
    super('a clumsy client')
    this.#seed = seed
  }

  override check(model: Model): boolean {
    return model.world.buckets.size > 0
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    const { server } = worldOf(store)
    model.log.push(String(this))
    for (let count = 1 + random.below(REQUESTS_MAXIMUM); count > 0; count -= 1) {
      const [what, code, send] = random.of(ROWS)
      const bucket = random.of([...model.world.buckets.keys()])
      const answer = await send(server, bucket, random)
      model.log.push(`${what}: ${answer.status} ${answer.code ?? ''}`)
      const { status } = S3_ERRORS[code]
      if (answer.status !== status || answer.code !== code) {
        throw new Error(
          `${what} (${bucket}): ${answer.status} ${answer.code} instead of ${status} ${code}: ${answer.text.slice(0, 300)}`,
        )
      }
    }
    await compare(model, store)
  }
}

export const clumsyStep: fc.Arbitrary<Step> = fc.nat(2 ** 31 - 1).map((seed) => new Clumsy(seed))
