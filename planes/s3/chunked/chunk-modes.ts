/** A form of body in chunks, as x-amz-content-sha256 names it. */
export interface ChunkMode {
  /** Whether each chunk carries a signature. */
  readonly isSigned: boolean
  /** Whether a checksum comes after the last chunk. */
  readonly hasTrailer: boolean
}

/** The forms that this server reads. Those that are signed with ECDSA are not among them. */
export const CHUNK_MODES: ReadonlyMap<string, ChunkMode> = new Map([
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { isSigned: true, hasTrailer: false }],
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { isSigned: true, hasTrailer: true }],
  ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { isSigned: false, hasTrailer: true }],
])

/** The length of the payload without its framing. An operation that takes this header takes bodies in chunks. */
export const DECODED_LENGTH = 'x-amz-decoded-content-length'
/** Names of what comes after the final chunk. */
export const TRAILER = 'x-amz-trailer'
export const CHUNK_HEADERS: readonly string[] = [DECODED_LENGTH, TRAILER]
