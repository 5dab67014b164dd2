/**
 * What the journal can look like when a store is opened, and what is done about it. Exactly one row fits any set of
 * facts; a spec goes through all of them. Nothing is cut off that could ever have been acknowledged (J5, J6, J15).
 */

/** The yes/no facts that recovery looks at, in the order they are established. */
export interface RecoveryFacts {
  /** There is at least one segment. */
  readonly hasSegments: boolean
  /** Something else shows that this store was in use: a high-water mark, projections, payloads. */
  readonly wasInUse: boolean
  /** Every header is right and every segment but the last is sealed and continued by the next. */
  readonly segmentsLink: boolean
  /**
   * What follows the last valid batch of the last segment: only zeros; nothing, since the batch seals the segment; a
   * batch of which a part is missing; a batch that is whole and does not belong there.
   */
  readonly tail: 'empty' | 'sealed' | 'torn' | 'foreign'
  /** A valid batch header with a higher number stands behind the first invalid batch. */
  readonly laterBatchFollows: boolean
  /** The high-water mark, or the projections, are ahead of the last valid batch, or name another hash for it. */
  readonly acknowledgedBeyond: boolean
}

export type RecoveryAction = 'create' | 'open' | 'open-next' | 'cut-tail' | 'refuse-damaged' | 'refuse-lost'

interface RecoveryCase {
  readonly name: string
  /** The physical cause. */
  readonly cause: string
  readonly when: Partial<RecoveryFacts>
  readonly action: RecoveryAction
}

export const RECOVERY_CASES = [
  {
    name: 'new store',
    cause: 'an empty data directory',
    when: { hasSegments: false, wasInUse: false },
    action: 'create',
  },
  {
    name: 'journal is gone',
    cause: 'the journal directory was removed or not restored; the rest of the store is there',
    when: { hasSegments: false, wasInUse: true },
    action: 'refuse-lost',
  },
  {
    name: 'segments do not link',
    cause: 'a segment is missing, damaged, exchanged, or not sealed although another follows',
    when: { hasSegments: true, segmentsLink: false },
    action: 'refuse-damaged',
  },
  {
    name: 'acknowledged entries lost',
    cause: 'the tail was removed or an older copy restored: the journal ends before what was known to be durable',
    when: { hasSegments: true, segmentsLink: true, laterBatchFollows: false, acknowledgedBeyond: true },
    action: 'refuse-lost',
  },
  {
    name: 'clean end',
    cause: 'an ordinary stop, or a crash between two batches',
    when: { hasSegments: true, segmentsLink: true, tail: 'empty', laterBatchFollows: false, acknowledgedBeyond: false },
    action: 'open',
  },
  {
    name: 'sealed without successor',
    cause: 'a crash between sealing a segment and beginning the next',
    when: {
      hasSegments: true,
      segmentsLink: true,
      tail: 'sealed',
      laterBatchFollows: false,
      acknowledgedBeyond: false,
    },
    action: 'open-next',
  },
  {
    name: 'torn tail',
    cause: 'power went while the last batch was written; it was never acknowledged, since its sync never returned',
    when: {
      hasSegments: true,
      segmentsLink: true,
      tail: 'torn',
      laterBatchFollows: false,
      acknowledgedBeyond: false,
    },
    action: 'cut-tail',
  },
  {
    name: 'foreign batch',
    cause:
      'a whole batch does not belong where it stands, or its records do not continue the chain: no crash does that',
    when: {
      hasSegments: true,
      segmentsLink: true,
      tail: 'foreign',
      laterBatchFollows: false,
      acknowledgedBeyond: false,
    },
    action: 'refuse-damaged',
  },
  {
    name: 'damage before the tail',
    cause: 'a batch that was durable is damaged: a later one stands behind it',
    when: { hasSegments: true, segmentsLink: true, laterBatchFollows: true },
    action: 'refuse-damaged',
  },
] as const satisfies readonly RecoveryCase[]

/**
 * The case that fits.
 * @throws Error when none or more than one fits, which would be a fault of this table
 */
export function recoveryCase(facts: RecoveryFacts): RecoveryCase {
  const fitting = (RECOVERY_CASES as readonly RecoveryCase[]).filter((row) =>
    (Object.keys(row.when) as (keyof RecoveryFacts)[]).every((fact) => row.when[fact] === facts[fact]),
  )
  const [only, second] = fitting
  if (only === undefined || second !== undefined) {
    throw new Error(`${fitting.length} recovery cases fit ${JSON.stringify(facts)}`)
  }
  return only
}
