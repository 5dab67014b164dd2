/** Changes of checkpoints, as they are stored and as `journal show` shows them. */
const DIGEST = Buffer.alloc(32, 0xab)
const HEX = 'ab'.repeat(32)
const SIGNATURE = Buffer.alloc(64, 0xcd)

export const SHOWN_CHECKPOINTS: readonly (readonly [stored: readonly unknown[], shown: Record<string, unknown>])[] = [
  [
    [47, 9, DIGEST, DIGEST, DIGEST, 'log/1', DIGEST, SIGNATURE],
    {
      kind: 'checkpoint.signed',
      size: 9,
      root: HEX,
      bundle_root: HEX,
      previous: HEX,
      origin: 'log/1',
      public_key: HEX,
      signature: SIGNATURE.toString('hex'),
    },
  ],
  [
    [52, 9, 0, 'https://tsa.example/', DIGEST, 1_000_000],
    {
      kind: 'checkpoint.receipt',
      size: 9,
      receipt_kind: 'rfc3161',
      giver: 'https://tsa.example/',
      receipt: HEX,
      asserted: '1970-01-01T00:00:01.000000Z',
    },
  ],
  [
    [56, 'log/1', 1, DIGEST, DIGEST, 9, DIGEST, SIGNATURE, SIGNATURE],
    {
      kind: 'checkpoint.key-rotated',
      origin: 'log/1',
      generation: 1,
      old_key: HEX,
      new_key: HEX,
      size: 9,
      root: HEX,
      old_signature: SIGNATURE.toString('hex'),
      new_signature: SIGNATURE.toString('hex'),
    },
  ],
  [[53, 9], { kind: 'checkpoint.withheld', size: 9 }],
  [[54, 9], { kind: 'checkpoint.published', size: 9 }],
  [
    [55, 'log/1', 9, DIGEST, DIGEST, 7],
    { kind: 'checkpoint.cosigned', origin: 'log/1', size: 9, root: HEX, public_key: HEX, seconds: 7 },
  ],
]
