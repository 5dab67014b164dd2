/** The checksum of an object of parts, said again without the code that makes it (spec/decisions/0052). */
import type { CommandOf } from '../../engine/commands/commands.ts'
import type { ObjectChecksum } from '../../engine/events/values.ts'
import { startChecksum } from '../../planes/s3/request/checksums.ts'
import { refuse } from './refusals.ts'
import type { ModelPart, ModelUpload } from './state.ts'

/** What is kept of the checksum of a part. */
export function keptChecksum(
  { checksum: asked }: ModelUpload,
  given: ObjectChecksum | undefined,
): Uint8Array | undefined {
  return given?.algorithm === asked?.algorithm ? given?.value : undefined
}

/** Steps ask for checksums of checksums alone: their parts say more bytes than they have. */
export function wholeChecksum(
  { checksum: expected }: CommandOf<'complete-upload'>,
  { checksum: asked }: ModelUpload,
  parts: readonly ModelPart[],
): ObjectChecksum | undefined {
  const sums = parts.flatMap(({ checksum }) => (checksum === undefined ? [] : [checksum]))
  const isKnown = asked !== undefined && sums.length === parts.length
  if (!isKnown) return expected === undefined ? undefined : refuse('checksum-not-known')
  const running = startChecksum(asked.algorithm)
  for (const sum of sums) running.update(sum)
  const value = running.digest()
  if (expected !== undefined && !value.equals(expected.value)) refuse('checksum-mismatch')
  return { ...asked, value }
}
