/** What is signed well and must not pass: wrong times, and bodies in signed chunks, whole and spoiled (S14, S15). */
import { CHUNK_FORMS } from '../../support/chunked-requests.ts'
import { type Arena, BUCKET } from './arena.ts'
import { type Signable, type SignedRequest, signed } from './signed-requests.ts'

interface Refused {
  readonly name: string
  readonly request: SignedRequest
  readonly codes: readonly string[]
}

const MINUTE = 60_000
const HEX = 'a'.repeat(64)
const MODES = [...CHUNK_FORMS, 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'STREAMING-AWS4-HMAC-SHA256-EVENTS']
/** Of a body in chunks whose form is read. */
const SPOILED = ['SignatureDoesNotMatch', 'IncompleteBody', 'MalformedTrailerError']
/** Bodies in chunks, by what is wrong with them: none follows from the signature of its request. */
const BODIES: Readonly<Record<string, string>> = {
  whole: `5;chunk-signature=${HEX}\r\nhello\r\n0;chunk-signature=${HEX}\r\n\r\n`,
  'without signatures': '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n',
  'with a wrong trailer': '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n',
  'without a last chunk': `5;chunk-signature=${HEX}\r\nhello\r\n`,
  'with a wrong size': `9;chunk-signature=${HEX}\r\nhello\r\n0;chunk-signature=${HEX}\r\n\r\n`,
  'of bytes alone': 'hello',
}
const LENGTHS = ['5', '6', '0', '-1', '1e9', '18446744073709551616', 'x', '']
const TIMES = [-16, 16, -24 * 60, 24 * 60]
const EXPIRES = [0, -1, 604_801, 1e9, 0.5, Number.NaN]

const GET = { method: 'GET', path: `/${BUCKET}/key` } as const
const PUT = { method: 'PUT', path: `/${BUCKET}/streamed`, payloadHash: 'UNSIGNED-PAYLOAD' } as const

/** Everything of the kind. */
export function refusedThoughSigned(arena: Arena): Refused[] {
  return [
    ...TIMES.map((minutes) => {
      const name = `signed ${minutes} minutes from now`
      return refusal(arena, ['RequestTimeTooSkewed'], { ...GET, name, now: Date.now() + minutes * MINUTE })
    }),
    ...TIMES.filter((minutes) => minutes !== -16).map((minutes) => {
      const name = `presigned ${minutes} minutes from now`
      const now = Date.now() + minutes * MINUTE
      return refusal(arena, ['AccessDenied'], { ...GET, name, mode: 'presigned', now })
    }),
    ...EXPIRES.map((expiresSeconds) => {
      const name = `presigned for ${expiresSeconds} seconds`
      const codes = ['AccessDenied', 'AuthorizationQueryParametersError']
      return refusal(arena, codes, { ...GET, name, mode: 'presigned', expiresSeconds })
    }),
    ...MODES.flatMap((payloadHash) =>
      Object.entries(BODIES).map(([name, body]) => {
        const headers = [
          ['content-encoding', 'aws-chunked'],
          ['x-amz-decoded-content-length', '5'],
        ] as const
        return refusal(arena, isRead(payloadHash) ? SPOILED : ['NotImplemented'], {
          ...PUT,
          name: `${payloadHash} ${name}`,
          headers,
          body,
          payloadHash,
        })
      }),
    ),
    ...LENGTHS.map((length) =>
      refusal(arena, ['InvalidArgument'], {
        ...PUT,
        name: `decoded length ${length}`,
        headers: [['x-amz-decoded-content-length', length]],
        body: BODIES['whole'] ?? '',
      }),
    ),
    refusal(arena, ['InvalidArgument'], {
      ...PUT,
      name: 'trailer that is announced',
      headers: [['x-amz-trailer', 'x-amz-checksum-crc32']],
      body: BODIES['without signatures'] ?? '',
    }),
  ]
}

function isRead(payloadHash: string): boolean {
  return CHUNK_FORMS.some((form) => form === payloadHash)
}

function refusal(arena: Arena, codes: readonly string[], signable: Signable): Refused {
  return { name: signable.name, request: signed(arena, signable), codes }
}
