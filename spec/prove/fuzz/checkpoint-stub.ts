/** A log of one checkpoint, with one receipt. */
import { SPEC_CHECKPOINT_KEYS } from '../../support/checkpoint-signing.ts'

const MICROSECONDS = Date.UTC(2026, 7, 1) * 1000

const CHECKPOINT = {
  sequence: 9,
  timeMicroseconds: MICROSECONDS,
  size: 9,
  root: Buffer.alloc(32),
  bundleRoot: Buffer.alloc(32),
  previous: Buffer.alloc(32),
  origin: 'log',
  publicKey: Buffer.alloc(32),
  signature: Buffer.alloc(64),
}
const RECEIPT = {
  sequence: 10,
  size: 9,
  kind: 'rfc3161',
  giver: 'https://tsa.example/',
  receipt: Buffer.alloc(40),
  assertedMicroseconds: MICROSECONDS,
}

export const CHECKPOINTS = {
  handovers: () => [],
  handingOver: () => ({
    last: { ...CHECKPOINT, publicKey: SPEC_CHECKPOINT_KEYS.newest(0).publicKey },
    handover: undefined,
  }),
  newest: () => CHECKPOINT,
  last: () => CHECKPOINT,
  ofSize: () => CHECKPOINT,
  note: () => 'note',
  noteOf: () => 'note',
  receiptsOf: () => [RECEIPT],
  receiptsAfter: () => [RECEIPT],
  after: () => [CHECKPOINT],
  inclusion: () => 'proof',
  consistency: () => 'proof',
  tile: () => Buffer.alloc(32),
}
