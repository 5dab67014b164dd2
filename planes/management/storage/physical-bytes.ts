import type { Disk } from '../../../engine/disk/disk.ts'
import { join } from 'node:path'
import { type StorePaths, volumeNumber } from '../../../engine/disk/store-paths.ts'
import { BLOCK_BYTES, FILE_FORMS, FILE_TRAILER } from '../../../engine/payloads/file-format.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'

/** Disk space of payloads, in bytes. */
export interface PhysicalBytes {
  /** Lengths of volumes, and of payload files with their proofs (to a few bytes for each file). */
  readonly physicalBytes: number
  /**
   * Part of it in volumes and not used by a payload: deleted payloads until compaction, headers, preallocated space.
   */
  readonly unusedVolumeBytes: number
}

/** Reads the length of every volume; payload files, of which there may be millions, are counted by the catalog. */
export function physicalBytes(disk: Disk, paths: StorePaths, snapshot: CatalogSnapshot): PhysicalBytes {
  const volumes = disk.list(paths.volumes).filter((name) => volumeNumber(name) !== undefined)
  const volumeBytes = volumes.reduce((sum, name) => sum + disk.sizeOf(join(paths.volumes, name)), 0)
  const { files, fileBytes, usedVolumeBytes } = snapshot.payloadUsage()
  const proofBytes = Math.ceil(fileBytes / BLOCK_BYTES) * FILE_FORMS.plain.proofBytes + files * FILE_TRAILER.bytes
  return {
    physicalBytes: volumeBytes + fileBytes + proofBytes,
    unusedVolumeBytes: Math.max(0, volumeBytes - usedVolumeBytes),
  }
}
