/** What is signed well and must not pass: wrong times, and bodies in signed chunks, whole and spoiled (S14, S15). */
import { type Arena, BUCKET } from './arena.ts'
import { type Signable, type SignedRequest, signed } from './signed-requests.ts'

interface Refused {
  readonly name: string
  readonly request: SignedRequest
  readonly codes: readonly string[]
}

const MINUTE = 60_000
const HEX = 'a'.repeat(64)
const MODES = [
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
  'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD',
]
/** Bodies in chunks, by what is wrong with them; none of them is read by this server. */
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

/** Everything of the kind. */
export function refusedThoughSigned(arena: Arena): Refused[] {
  const path = `/${BUCKET}/streamed`
  return [
    ...TIMES.map((minutes) => at(arena, minutes)),
    ...TIMES.filter((minutes) => minutes !== -16).map((minutes) => presignedAt(arena, minutes)),
    ...EXPIRES.map((seconds) => lasting(arena, seconds)),
    ...MODES.flatMap((payloadHash) =>
      Object.entries(BODIES).map(([name, body]) => {
        const headers = [
          ['content-encoding', 'aws-chunked'],
          ['x-amz-decoded-content-length', '5'],
        ] as const
        return refusal(arena, ['NotImplemented'], {
          name: `${payloadHash} ${name}`,
          mode: 'header',
          method: 'PUT',
          path,
          headers,
          body,
          payloadHash,
        })
      }),
    ),
    ...LENGTHS.map((length) =>
      refusal(arena, ['NotImplemented'], {
        name: `decoded length ${length}`,
        mode: 'header',
        method: 'PUT',
        path,
        headers: [['x-amz-decoded-content-length', length]],
        body: BODIES['whole'] ?? '',
        payloadHash: 'UNSIGNED-PAYLOAD',
      }),
    ),
    refusal(arena, ['NotImplemented'], {
      name: 'trailer that is announced',
      mode: 'header',
      method: 'PUT',
      path,
      headers: [['x-amz-trailer', 'x-amz-checksum-crc32']],
      body: BODIES['without signatures'] ?? '',
      payloadHash: 'UNSIGNED-PAYLOAD',
    }),
  ]
}

function refusal(arena: Arena, codes: readonly string[], signable: Signable): Refused {
  return { name: signable.name, request: signed(arena, signable), codes }
}

function at(arena: Arena, minutes: number): Refused {
  const now = Date.now() + minutes * MINUTE
  const name = `signed ${minutes} minutes from now`
  return refusal(arena, ['RequestTimeTooSkewed'], { name, mode: 'header', method: 'GET', path: `/${BUCKET}/key`, now })
}

function presignedAt(arena: Arena, minutes: number): Refused {
  const now = Date.now() + minutes * MINUTE
  const name = `presigned ${minutes} minutes from now`
  return refusal(arena, ['AccessDenied'], { name, mode: 'presigned', method: 'GET', path: `/${BUCKET}/key`, now })
}

function lasting(arena: Arena, expiresSeconds: number): Refused {
  const name = `presigned for ${expiresSeconds} seconds`
  const codes = ['AccessDenied', 'AuthorizationQueryParametersError']
  return refusal(arena, codes, { name, mode: 'presigned', method: 'GET', path: `/${BUCKET}/key`, expiresSeconds })
}
