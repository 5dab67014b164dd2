/** A form of aws-chunked body, named by x-amz-content-sha256. */
export interface ChunkMode {
  /** Whether each chunk carries a signature. */
  readonly isSigned: boolean
  /** Whether a checksum comes after the last chunk. */
  readonly hasTrailer: boolean
}

/** The supported forms. Forms signed with ECDSA are not supported. */
export const CHUNK_MODES: ReadonlyMap<string, ChunkMode> = new Map([
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { isSigned: true, hasTrailer: false }],
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { isSigned: true, hasTrailer: true }],
  ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { isSigned: false, hasTrailer: true }],
])

/** Header with the length of the payload without framing. An operation that supports it accepts chunked bodies. */
export const DECODED_LENGTH = 'x-amz-decoded-content-length'
/** Header that announces the trailer after the final chunk. */
export const TRAILER = 'x-amz-trailer'
export const CHUNK_HEADERS: readonly string[] = [DECODED_LENGTH, TRAILER]
