import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import { type StorePaths, volumeNumber } from '../../engine/disk/store-paths.ts'
import { isPayloadName } from '../../engine/payloads/payload-ids.ts'
import { type BackupContents, type BackupRun, removeManifestsBefore, writeManifest } from './manifest.ts'
import type { PayloadState } from './payload-state.ts'

export interface PruneReport {
  readonly files: number
  readonly volumes: number
  readonly bytes: number
}

/**
 * Removes the payloads to which the newest point of a backup does not refer. First a manifest that lists what stays
 * takes the place of all others, so a crash may leave unlisted files, but no missing ones.
 */
export function pruneBackup(
  disk: Disk,
  backup: StorePaths,
  state: PayloadState,
  { files, volumes }: Pick<BackupContents, 'files' | 'volumes'>,
  run: Omit<BackupRun, 'missing'> & { readonly deploymentId: string },
  missing: readonly string[],
): PruneReport {
  const used = new Set<string>()
  for (const { location } of state.payloads()) if (location.kind === 'file') used.add(location.name)
  const usedVolumes = new Set<number>(state.volumes().map(({ volume }) => volume))
  for (const name of files.keys()) if (!used.has(name)) files.delete(name)
  for (const volume of volumes.keys()) if (!usedVolumes.has(volume)) volumes.delete(volume)
  const number = run.number + 1
  writeManifest(disk, backup.root, { ...run, number, previous: undefined }, { files, volumes, missing })
  removeManifestsBefore(disk, backup.root, number)
  return removeUnlisted(disk, backup, used, usedVolumes)
}

function removeUnlisted(
  disk: Disk,
  backup: StorePaths,
  used: ReadonlySet<string>,
  usedVolumes: ReadonlySet<number>,
): PruneReport {
  const report = { files: 0, volumes: 0, bytes: 0 }
  for (const directory of disk.list(backup.files)) {
    for (const name of disk.list(join(backup.files, directory))) {
      if (!isPayloadName(name) || used.has(name)) continue
      report.bytes += disk.sizeOf(backup.file(name))
      report.files += 1
      disk.remove(backup.file(name))
    }
  }
  for (const name of disk.list(backup.volumes)) {
    const volume = volumeNumber(name)
    if (volume === undefined || usedVolumes.has(volume)) continue
    report.bytes += disk.sizeOf(backup.volume(volume))
    report.volumes += 1
    disk.remove(backup.volume(volume))
  }
  return report
}
