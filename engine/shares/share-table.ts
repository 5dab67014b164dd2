/**
 * All limited resources that requests share: places, turns, bytes of memory. Each has an owner for every unit in use
 * (an account, or an address for a stranger) and is handed out by `Shares`, so one greedy owner cannot keep the others
 * from theirs. Each thread has its own of each, unless the row says otherwise.
 */
export interface ShareRow {
  /** Its description for operators. */
  readonly sentence: string
  readonly unit: 'places' | 'bytes'
  /** Units in use at the same time. */
  readonly capacity: number
  /** Units that one owner may have in use; all of them by default. */
  readonly ownerMaximum?: number
  /** Requests that may wait for units; 0 by default, which refuses at once. */
  readonly waitingMaximum?: number
  /** How long one may wait; without an end by default. */
  readonly waitMillisecondsMaximum?: number
}

export const shareTable = {
  'copy-turns': {
    sentence: 'Copies that move bytes.',
    unit: 'places',
    capacity: 2,
    waitingMaximum: 32,
  },
  'early-bodies': {
    sentence: 'Bodies of up to 64 KiB on their way, whose operations have no place yet.',
    unit: 'bytes',
    capacity: 64 << 20,
    ownerMaximum: 32 << 20,
  },
  'held-answers': {
    sentence: 'Answers in memory that their clients have not read yet.',
    unit: 'bytes',
    capacity: 64 << 20,
  },
  scans: {
    sentence: 'Reads of the audit log, of events and of tables for one page of an answer.',
    unit: 'places',
    capacity: 4,
    waitingMaximum: 64,
    waitMillisecondsMaximum: 10_000,
  },
  exports: {
    sentence: 'Exports of the audit log.',
    unit: 'places',
    capacity: 16,
    ownerMaximum: 12,
    waitingMaximum: 64,
    waitMillisecondsMaximum: 10_000,
  },
  'object-verifications': {
    sentence: 'Verifications of one object.',
    unit: 'places',
    capacity: 4,
    waitingMaximum: 64,
    waitMillisecondsMaximum: 10_000,
  },
  'bucket-verifications': {
    sentence: 'Verifications of a bucket.',
    unit: 'places',
    capacity: 4,
  },
  'event-streams': {
    sentence: 'Streams of events.',
    unit: 'places',
    capacity: 32,
  },
  'big-documents': {
    sentence: 'Documents over 16 KiB sent to the S3 plane, which a thread reads one after the other.',
    unit: 'places',
    capacity: 1,
    waitingMaximum: 64,
    waitMillisecondsMaximum: 10_000,
  },
  'public-reads': {
    sentence:
      'Reads without a credential of what policies of buckets open to everyone: by network, and all together as one account.',
    unit: 'places',
    capacity: 64,
    ownerMaximum: 16,
  },
  'password-hashes': {
    sentence: 'Passwords that are hashed.',
    unit: 'places',
    capacity: 1,
    waitingMaximum: 15,
  },
} as const satisfies Readonly<Record<string, ShareRow>>

export type ShareName = keyof typeof shareTable
export const shareNames = Object.keys(shareTable) as readonly ShareName[]

/** A resource that is shared by owner as well, but cannot be handed out by `Shares`. */
interface OtherRow {
  readonly sentence: string
  /** Where it is done. */
  readonly file: string
  /** The spec that fails when one owner gets too much. */
  readonly spec: string
}

export const otherShares: Readonly<Record<string, OtherRow>> = {
  operations: {
    sentence:
      'Places for operations and places in their queue, of all threads together: an account has limits.account_share_percent of both, and accounts that wait take turns. Counted in shared memory.',
    file: 'planes/http/limits/concurrency-gate.ts',
    spec: 'spec/planes/concurrency-gate.spec.ts',
  },
  bodies: {
    sentence:
      'Buffers of bodies that are sent or received piece by piece: their operations keep their places meanwhile, so an account has as many as it has places.',
    file: 'planes/exchange/exchange.ts',
    spec: 'spec/planes/exchange.spec.ts',
  },
  refusals: {
    sentence: 'Refusals of strangers, a rate: networks of strangers take turns.',
    file: 'planes/exchange/refusal-pace.ts',
    spec: 'spec/planes/refusal-pace.spec.ts',
  },
  connections: {
    sentence:
      'Connections of a listener: when they are short, an address with more than half of them gets no further ones.',
    file: 'planes/http/limits/address-shares.ts',
    spec: 'spec/planes/address-shares.spec.ts',
  },
  'fresh-connections': {
    sentence: 'Connections that have sent no request yet: the oldest of the address that has most is closed first.',
    file: 'planes/http/limits/fresh-connections.ts',
    spec: 'spec/planes/http-lifecycle.spec.ts',
  },
  'read-turns': {
    sentence: 'Turns of uploads to be read from their sockets: each gets one chunk a turn, and has a place.',
    file: 'planes/http/requests/read-turns.ts',
    spec: 'spec/planes/fast-senders.spec.ts',
  },
  'password-attempts': {
    sentence: 'Attempts at passwords of shares, a rate: each takes one of its address and one of its share.',
    file: 'planes/links/attempt-limits.ts',
    spec: 'spec/planes/links/parts.spec.ts',
  },
}
