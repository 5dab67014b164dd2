import { next } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ColdSegmentDamagedError } from '../../engine/journal/cold/cold-segment.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { readSegmentFacts, type SegmentFacts } from '../../engine/journal/segment-chain.ts'
import type { SnapshotDescription } from './snapshot-file.ts'

/**
 * Why a snapshot does not continue into this journal; undefined when it does. Its last record must be in the journal, with
 * the same hash, at the same place, and be the seal that the next segment continues.
 * @param deploymentId in hexadecimal
 */
export function placeFault(
  disk: Disk,
  paths: StorePaths,
  deploymentId: string,
  description: Pick<SnapshotDescription, 'deploymentId' | 'position'>,
): string | undefined {
  if (description.deploymentId !== deploymentId) return 'it is of another deployment'
  const { position } = description
  const { sequence, segmentFirstSequence: own } = position
  const following = next(sequence)
  const firsts = segmentFirsts(disk, paths)
  const last = firsts.at(-1) ?? 0
  if (following > last) {
    return `it is ahead of the journal: it holds sequence ${sequence}, and the last segment begins with ${last}`
  }
  const missing = [own, following].find((first) => !firsts.includes(first))
  if (missing !== undefined) return `no segment of the journal begins with sequence ${missing}`
  const [segment, after] = [own, following].map((first) => factsOf(disk, paths.segment(first)))
  const { sealed, header } = segment ?? {}
  if (sealed === undefined || header === undefined || after === undefined) {
    return `the segments before and after sequence ${following} cannot be read`
  }
  const stated = Buffer.from(position.head)
  if (!stated.equals(sealed.hash) || !stated.equals(after.header.chainHead)) {
    return `the journal has another hash for sequence ${sequence}`
  }
  const isThere =
    sealed.seal.lastSequence + 1 === sequence &&
    sealed.batch === position.batch &&
    sealed.offset === position.batchOffset &&
    header.segmentNumber === position.segmentNumber &&
    after.header.firstBatch === position.batch + 1
  if (!isThere) return `sequence ${sequence} is at another place of the journal`
  const ids = [header.deploymentId, after.header.deploymentId].map((id) => Buffer.from(id).toString('hex'))
  return ids.every((id) => id === deploymentId) ? undefined : 'the segments around it are of another deployment'
}

function factsOf(disk: Disk, path: string): SegmentFacts | undefined {
  try {
    return readSegmentFacts(disk, path)
  } catch (error) {
    if (error instanceof ColdSegmentDamagedError) return undefined
    throw error
  }
}
