/** Changes of uploads that asked for checksums, as they are stored and as `journal show` shows them. */
const DIGEST = Buffer.alloc(32, 0xab)
const HEX = 'ab'.repeat(32)
const KEY = { bucket_id: 2, key: 'k' }

export const SHOWN_CHECKSUMS: readonly (readonly [stored: readonly unknown[], shown: Record<string, unknown>])[] = [
  [
    [15, 2, 'k', [], [], null, null, [4, true]],
    {
      kind: 'upload.created',
      ...KEY,
      headers: {},
      user_metadata: {},
      lock: null,
      default: null,
      checksum: { algorithm: 'sha256', composite: true },
    },
  ],
  [
    [16, 2, 'k', 50, 1, 0, 'e', DIGEST, null, false, DIGEST],
    {
      kind: 'upload.part-written',
      ...KEY,
      upload: 50,
      part: 1,
      size: 0,
      md5: 'e',
      sha256: HEX,
      payload: null,
      replaced: false,
      checksum: HEX,
    },
  ],
  [
    [3, 2, 'p', 9, 'etag-2', DIGEST, [], [], [0, 50], true, null, null, [4, DIGEST, true]],
    {
      kind: 'object.written',
      bucket_id: 2,
      sha256: HEX,
      headers: {},
      user_metadata: {},
      replaced: true,
      key: 'p',
      size: 9,
      etag: 'etag-2',
      payload: { kind: 'shared', payload_id: 50 },
      version: null,
      lock: null,
      checksum: { algorithm: 'sha256', value: HEX, composite: true },
    },
  ],
]
