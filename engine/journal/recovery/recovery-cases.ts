/**
 * The states of the journal when a store is opened, and what recovery does. Exactly one row fits any set of facts; a spec
 * tries all of them. Nothing is cut off that could have been acknowledged (J5, J6, J15).
 */

/** The facts that recovery establishes, in this order. */
export interface RecoveryFacts {
  /** There is at least one segment. */
  readonly hasSegments: boolean
  /** A high-water mark, projections or payloads show that this store was in use. */
  readonly wasInUse: boolean
  /** Every header is right and every segment but the last is sealed and continued by the next; or it is not needed, and bridged. */
  readonly segmentsLink: boolean
  /**
   * After the last valid batch of the last segment: only zeros; nothing, since the batch seals the segment; an
   * incomplete batch; the batch that the mark names as refused; a whole batch that does not belong there.
   */
  readonly tail: 'empty' | 'sealed' | 'torn' | 'refused' | 'foreign'
  /** A valid batch header with a higher number follows the first invalid batch. */
  readonly laterBatchFollows: boolean
  /** The high-water mark or the projections are ahead of the last valid batch, or have another hash for it. */
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

const LINKED = { hasSegments: true, segmentsLink: true } as const
/** The first invalid batch, if there is one, can be the last that was written, and nothing acknowledged is missing. */
const ENDS = { ...LINKED, laterBatchFollows: false, acknowledgedBeyond: false } as const

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
    cause: 'a segment is missing, damaged, replaced, or not sealed although another follows',
    when: { hasSegments: true, segmentsLink: false },
    action: 'refuse-damaged',
  },
  {
    name: 'acknowledged entries lost',
    cause: 'the tail was removed or an older copy restored: the journal ends before what was known to be durable',
    when: { ...ENDS, acknowledgedBeyond: true },
    action: 'refuse-lost',
  },
  {
    name: 'clean end',
    cause: 'an ordinary stop, or a crash between two batches',
    when: { ...ENDS, tail: 'empty' },
    action: 'open',
  },
  {
    name: 'sealed without successor',
    cause: 'a crash between sealing a segment and beginning the next',
    when: { ...ENDS, tail: 'sealed' },
    action: 'open-next',
  },
  {
    name: 'torn tail',
    cause: 'power went while the last batch was written; it was never acknowledged, since its sync never returned',
    when: { ...ENDS, tail: 'torn' },
    action: 'cut-tail',
  },
  {
    name: 'refused batch',
    cause: 'the write or sync of the last batch failed, and its requests were refused before the process ended',
    when: { ...ENDS, tail: 'refused' },
    action: 'cut-tail',
  },
  {
    name: 'foreign batch',
    cause: 'a whole batch does not belong where it is, or its records do not continue the chain: no crash does that',
    when: { ...ENDS, tail: 'foreign' },
    action: 'refuse-damaged',
  },
  {
    name: 'damage before the tail',
    cause: 'a batch that was durable is damaged, or the mark says that it was refused: a later one follows it',
    when: { ...LINKED, laterBatchFollows: true },
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
