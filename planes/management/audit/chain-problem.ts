import { sequenceOf } from '../../../engine/brands.ts'
import { segmentName } from '../../../engine/disk/store-paths.ts'
import type { ChainProblem } from '../../../engine/verify/span/span-report.ts'
import { object, oneOf, text, whole } from '../schemas/schema.ts'

export const CHAIN_PROBLEM_MEMBERS = {
  sequence: whole(),
  last_sequence: whole(),
  verdict: oneOf('content changed', 'broken link to the previous record', 'record is missing from the log'),
  segment: text(),
  offset: whole(),
  detail: text(),
} as const

/** Records that are damaged or missing, with the place in the journal, as JSON. */
export const CHAIN_PROBLEM = object(CHAIN_PROBLEM_MEMBERS)

export function problemRecord({
  sequence,
  lastSequence,
  verdict,
  place,
  detail,
}: ChainProblem): Record<string, unknown> {
  const segment = segmentName(sequenceOf(place.segmentFirstSequence))
  return { sequence, last_sequence: lastSequence, verdict, segment, offset: place.offset, detail }
}
