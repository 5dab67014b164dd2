import type { SpineCommand } from '../commands/spine-commands.ts'
import { DomainError } from '../errors.ts'
import { CHECKSUM_BYTES, type ChecksumAlgorithm, type ObjectChecksum, type UploadChecksum } from '../events/values.ts'
import type { PartState, UploadState } from '../state-ports.ts'
import type { DecisionContext } from './decision.ts'

/** The checksum to keep of a part: of the algorithm that its upload asked for, if the client gave it. */
export function partChecksum(
  { checksum: asked }: UploadState,
  given: ObjectChecksum | undefined,
): Uint8Array | undefined {
  return asked !== undefined && given?.algorithm === asked.algorithm && !given.composite ? given.value : undefined
}

/**
 * The checksum of a whole object from the checksums of its parts: of the kind that its upload asked for; none when a
 * part has none, such as a copied part.
 * @throws DomainError part-not-found, with the part's number, when the client lists another checksum for it;
 *   checksum-mismatch, checksum-not-known when the client gave one for the whole object
 */
export function completedChecksum(
  { checksums, checksum: expected }: SpineCommand<'complete-upload'>,
  { checksum: asked }: UploadState,
  parts: readonly PartState[],
  context: DecisionContext,
): ObjectChecksum | undefined {
  if (checksums !== undefined) requireListed(checksums, asked, parts)
  const known = asked === undefined ? undefined : wholeOf(asked, parts, context)
  if (expected === undefined) return known
  if (known === undefined) throw new DomainError('checksum-not-known')
  const isSame =
    expected.algorithm === known.algorithm &&
    expected.composite === known.composite &&
    Buffer.compare(expected.value, known.value) === 0
  if (!isSame) throw new DomainError('checksum-mismatch')
  return known
}

function requireListed(
  { values, given }: NonNullable<SpineCommand<'complete-upload'>['checksums']>,
  asked: UploadChecksum | undefined,
  parts: readonly PartState[],
): void {
  const width = asked === undefined ? 0 : CHECKSUM_BYTES[asked.algorithm]
  for (const [index, { part, checksum }] of parts.entries()) {
    if (given[index] !== 1) continue
    const listed = values.subarray(index * width, (index + 1) * width)
    if (checksum === undefined || Buffer.compare(checksum, listed) !== 0) {
      throw new DomainError('part-not-found', String(part))
    }
  }
}

function wholeOf(
  asked: UploadChecksum,
  parts: readonly PartState[],
  { checksumOfParts }: DecisionContext,
): ObjectChecksum | undefined {
  const sums: { readonly checksum: Uint8Array; readonly size: number }[] = []
  for (const { checksum, size } of parts) {
    if (checksum === undefined) return undefined
    sums.push({ checksum, size })
  }
  return { ...asked, value: checksumOfParts(asked, sums) }
}

/** A full-object CRC can be combined from the CRCs of parts. */
const COMBINABLE: ReadonlySet<ChecksumAlgorithm> = new Set(['crc32', 'crc32c', 'crc64nvme'])

/** Whether an upload can ask for it (S3 user guide, Checking object integrity): CRCs combine, SHAs and shorter CRCs compose. */
export function isUploadChecksum({ algorithm, composite }: UploadChecksum): boolean {
  return composite ? algorithm !== 'crc64nvme' : COMBINABLE.has(algorithm)
}
