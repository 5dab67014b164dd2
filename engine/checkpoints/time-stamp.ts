/**
 * Time stamps of RFC 3161 over the root that proof bundles have of a checkpoint, which is a SHA-256 already. What an
 * answer says is checked here; its signature is checked with the authority's certificate: `openssl ts -verify -digest
 * ROOT -in FILE -CAfile CA`.
 */
import { der, DER, DER_EXPLICIT_0, DerError, DerReader } from './der.ts'

const OIDS = {
  sha256: '608648016503040201',
  signedData: '2a864886f70d010702',
  timeStampInfo: '2a864886f70d0109100104',
} as const
const GRANTED: ReadonlySet<number> = new Set([0, 1])
const STATUS_NAMES = ['granted', 'granted with modifications', 'rejection', 'waiting', 'revocation warning', 'revoked']
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{1,6})\d*)?Z$/

/** An answer is not the time stamp that was asked for. */
export class TimeStampError extends Error {
  override readonly name = 'TimeStampError'
}

/** The fields of a time stamp. */
interface TimeStamp {
  /** By the clock of the authority. */
  readonly assertedMicroseconds: number
}

/** A nonce of 8 random bytes, in the one form that an integer of DER has. */
export function nonceOf(random: Uint8Array): Buffer {
  const nonce = Buffer.from(random)
  nonce[0] = ((nonce[0] ?? 0) & 0x3f) | 0x40
  return nonce
}

/**
 * The request for a time stamp over 32 bytes, with the certificate of the authority in the answer (RFC 3161 section 2.4.1).
 * @param nonce as `nonceOf` makes it; undefined for a request without one
 */
export function timeStampRequest(root: Uint8Array, nonce: Uint8Array | undefined): Buffer {
  const algorithm = der(DER.sequence, der(DER.oid, Buffer.from(OIDS.sha256, 'hex')), Buffer.of(0x05, 0x00))
  return der(
    DER.sequence,
    der(DER.integer, Buffer.of(1)),
    der(DER.sequence, algorithm, der(DER.octets, root)),
    ...(nonce === undefined ? [] : [der(DER.integer, nonce)]),
    der(DER.boolean, Buffer.of(0xff)),
  )
}

/**
 * Reads an answer (RFC 3161 section 2.4.2), and checks it against the request.
 * @param nonce of the request; undefined if it is not known: then any or none will do
 * @throws TimeStampError
 */
export function readTimeStamp(
  answer: Uint8Array,
  asked: { readonly root: Uint8Array; readonly nonce: Uint8Array | undefined },
): TimeStamp {
  try {
    return readAnswer(Buffer.from(answer), asked)
  } catch (error) {
    if (!(error instanceof DerError)) throw error
    throw new TimeStampError(`the answer is not a time stamp of RFC 3161: ${error.message}`)
  }
}

function readAnswer(
  answer: Buffer,
  asked: { readonly root: Uint8Array; readonly nonce: Uint8Array | undefined },
): TimeStamp {
  const whole = new DerReader(answer)
  const response = whole.enter(DER.sequence)
  if (!whole.isAtEnd) throw new DerError('bytes after the answer')
  const status = response.enter(DER.sequence).take(DER.integer)
  const code = status.length === 1 ? (status[0] as number) : -1
  if (!GRANTED.has(code)) throw new TimeStampError(`the authority refused: ${STATUS_NAMES[code] ?? 'unknown status'}`)
  const info = infoIn(response)
  const [version, policy] = [info.take(DER.integer), info.take(DER.oid)]
  if (version.length !== 1 || version[0] !== 1 || policy.length === 0) throw new DerError('another version')
  const imprint = info.enter(DER.sequence)
  const algorithm = imprint.enter(DER.sequence).take(DER.oid).toString('hex')
  if (algorithm !== OIDS.sha256 || Buffer.compare(imprint.take(DER.octets), asked.root) !== 0) {
    throw new TimeStampError('the time stamp is over something else than the root of the checkpoint')
  }
  info.take(DER.integer)
  const assertedMicroseconds = microsecondsOf(info.take(DER.time).toString('latin1'))
  requireNonce(info, asked.nonce)
  return { assertedMicroseconds }
}

/** The TSTInfo inside the token, which is CMS signed data (RFC 5652). */
function infoIn(response: DerReader): DerReader {
  if (response.isAtEnd) throw new DerError('granted, and no token')
  const token = response.enter(DER.sequence)
  if (token.take(DER.oid).toString('hex') !== OIDS.signedData) throw new DerError('the token is not signed data')
  const signed = token.enter(DER_EXPLICIT_0).enter(DER.sequence)
  signed.take(DER.integer)
  signed.take(DER.set)
  const contents = signed.enter(DER.sequence)
  if (contents.take(DER.oid).toString('hex') !== OIDS.timeStampInfo)
    throw new DerError('the token holds something else')
  return new DerReader(contents.enter(DER_EXPLICIT_0).take(DER.octets)).enter(DER.sequence)
}

/** After the time come accuracy, ordering, nonce, authority and extensions, each of them optional. */
function requireNonce(info: DerReader, asked: Uint8Array | undefined): void {
  if (info.tag === DER.sequence) info.next()
  if (info.tag === DER.boolean) info.next()
  const nonce = info.tag === DER.integer ? info.next().content : undefined
  if (asked === undefined) return
  if (nonce === undefined || Buffer.compare(nonce, asked) !== 0) {
    throw new TimeStampError('the nonce of the time stamp is not the one that was sent')
  }
}

function microsecondsOf(time: string): number {
  const [, year, month, day, hour, minute, second, fraction = ''] = TIME.exec(time) ?? []
  const milliseconds = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  )
  if (Number.isNaN(milliseconds)) throw new DerError('the time is not one')
  return milliseconds * 1000 + Number(fraction.padEnd(6, '0'))
}
