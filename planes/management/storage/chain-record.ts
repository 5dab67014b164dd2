import type { ChainVerdict, ReadVerdicts } from '../../../engine/journal/chain-verdicts.ts'
import { rfc3339 } from '../requests/timestamps.ts'
import { object, oneOf, orNull, SHA256, TIME, text, whole } from '../schemas/schema.ts'

const VERDICT = object({
  from: whole(),
  through: orNull(whole()),
  head_hash: orNull(SHA256),
  verified_at: TIME,
  verified_by: text(),
  program: oneOf('journal verify', 'audit chain', 'server start'),
  problem: orNull(
    object({
      sequence: orNull(whole()),
      segment: orNull(text()),
      offset: orNull(whole()),
      verdict: text(),
      detail: text(),
    }),
  ),
})

/** The last verdicts on the chain in the status of the storage. */
export const CHAIN = object({
  state: oneOf('intact', 'damaged', 'unverified'),
  records_after: orNull(whole()),
  whole: orNull(VERDICT),
  part: orNull(VERDICT),
  ignored: orNull(text()),
})

/** @param lastSequence of the journal */
export function chainRecord(
  { whole: last, part, ignored }: ReadVerdicts,
  lastSequence: number,
): Record<string, unknown> {
  return {
    state: last === undefined ? 'unverified' : last.problem === undefined ? 'intact' : 'damaged',
    records_after: last?.through === undefined ? null : Math.max(0, lastSequence - last.through),
    whole: last === undefined ? null : verdictRecord(last),
    part: part === undefined ? null : verdictRecord(part),
    ignored: ignored ?? null,
  }
}

function verdictRecord({ from, through, headHash, atMilliseconds, by, program, problem }: ChainVerdict) {
  return {
    from,
    through: through ?? null,
    head_hash: headHash ?? null,
    verified_at: rfc3339(atMilliseconds * 1000),
    verified_by: by,
    program,
    problem: problem === undefined ? null : problemRecord(problem),
  }
}

function problemRecord({ sequence, segment, offset, verdict, detail }: NonNullable<ChainVerdict['problem']>) {
  return { sequence: sequence ?? null, segment: segment ?? null, offset: offset ?? null, verdict, detail }
}

/** Whether the `chain` of a status is damaged. */
export function isChainDamaged(chain: unknown): boolean {
  return (chain as { readonly state?: unknown } | null)?.state === 'damaged'
}
