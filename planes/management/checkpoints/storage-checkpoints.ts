import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import type { CheckpointFacts } from '../../../projections/checkpoints/checkpoint-facts.ts'
import { FLAG, listOf, object, oneOf, orNull, TIME, text, whole } from '../schemas/schema.ts'
import { rfc3339OrNull } from '../requests/timestamps.ts'

/** Checkpoints in the status of the storage. */
export const CHECKPOINTS = object({
  enabled: FLAG,
  tree_size: orNull(whole()),
  last_size: orNull(whole()),
  last_sequence: orNull(whole()),
  last_at: orNull(TIME),
  origin: orNull(text()),
  signed: whole(),
  waits_for: listOf(text()),
  refusal: orNull(text()),
  refusal_code: orNull(oneOf('CHECKPOINT_ROLLBACK')),
})

export function checkpointsRecord(
  { isOn, treeSize, signed, waitsFor, refusal, refusalCode }: CheckpointFacts,
  last: CheckpointState | undefined,
): Record<string, unknown> {
  return {
    enabled: isOn,
    tree_size: treeSize ?? null,
    last_size: last?.size ?? null,
    last_sequence: last?.sequence ?? null,
    last_at: rfc3339OrNull(last?.timeMicroseconds),
    origin: last?.origin ?? null,
    signed,
    waits_for: waitsFor,
    refusal: refusal ?? null,
    refusal_code: refusalCode ?? null,
  }
}
