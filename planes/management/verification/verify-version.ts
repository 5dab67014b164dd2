import { createHash } from 'node:crypto'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import { BodyRemovedError } from '../../http/exchange.ts'
import type { FoundObject } from '../../objects/find-object.ts'
import { piecesOf, readObject } from '../../objects/read-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { digestOf } from '../object-lookup.ts'
import type { ManagementServices } from '../services.ts'

/** `pending`: every block is intact, but the recorded digest is not computed yet. */
type Verdict = 'verified' | 'damaged' | 'pending'

export interface Verification {
  readonly verdict: Verdict
  /** Recorded SHA-256; undefined if not known yet. */
  readonly expected: string | undefined
  /** SHA-256 of the bytes; undefined if a block is damaged. */
  readonly computed: string | undefined
}

/** A version could not be read for a reason other than damage, such as too many open files. The message names it. */
export class UnreadableVersionError extends Error {
  override readonly name = 'UnreadableVersionError'

  constructor(version: string, cause: unknown) {
    super(`${version} could not be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/**
 * Reads the bytes, verifies each block, and compares the digest of the whole with the recorded one. Yields the length
 * of each piece, so that the caller can stop or yield to other work.
 * @throws BodyRemovedError if the version was removed meanwhile
 * @throws UnreadableVersionError
 */
export async function* verifyVersion(
  found: FoundObject,
  services: ManagementServices,
): AsyncGenerator<number, Verification> {
  const expected = digestOf(found)
  const hash = createHash('sha256')
  try {
    for await (const piece of piecesOf(await readObject(services, found, 0, found.object.size))) {
      hash.update(piece)
      yield piece.length
    }
  } catch (error) {
    if (!isStillThere(found, services)) throw new BodyRemovedError('the version was removed while it was verified')
    if (error instanceof PayloadDamagedError) return damaged(expected, undefined, services)
    throw new UnreadableVersionError(nameOf(found, services), error)
  }
  const computed = hash.digest('hex')
  if (expected === undefined) return { verdict: 'pending', expected, computed }
  return computed === expected ? { verdict: 'verified', expected, computed } : damaged(expected, computed, services)
}

function damaged(
  expected: string | undefined,
  computed: string | undefined,
  { damageFound }: ManagementServices,
): Verification {
  damageFound('verification')
  return { verdict: 'damaged', expected, computed }
}

function isStillThere({ bucket, key, object: { isNull, sequence } }: FoundObject, { catalog }: ManagementServices) {
  return catalog.snapshot().version(bucket.id, key, isNull ? 'null' : sequence)?.sequence === sequence
}

function nameOf({ bucket, key, object }: FoundObject, { versionIds }: ManagementServices): string {
  return `${bucket.name}/${key} (version ${versionIdOf(object, versionIds)})`
}
