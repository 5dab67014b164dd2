import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import { probeDisk } from '../../../../engine/disk/probe.ts'
import type { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { notedDamage } from '../../../../projections/damaged-note.ts'
import { targetOfRow } from '../../../../projections/row-target.ts'
import type { Config } from '../../../config/config-types.ts'
import { isOnOneFileSystem } from '../../../server/store/payload-places.ts'
import { visibleText } from '../../../terminal/visible-text.ts'
import { DoctorFailure, type Found } from './finding.ts'

const MEBIBYTE = 1024 ** 2
/** Free space that is recommended (specification, Limits). */
const FREE_SHARE = 0.2

/**
 * Whether the data directory, or where it will be made, can be read and written: a small file is written there, synced, read and
 * removed.
 * @param locked whether a server has it open, or why it is not known
 */
export function dataDirectory({ root }: StorePaths, locked: boolean | Error): Found {
  const isThere = nodeDisk.exists(root)
  const place = isThere ? root : dirname(root)
  if (!statSync(place).isDirectory()) {
    throw new DoctorFailure(
      `${place} is a file where a directory must be`,
      'move it away, or set data_dir to another place',
    )
  }
  accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK)
  probeDisk(nodeDisk, place)
  if (locked instanceof Error) throw locked
  return isThere ? `${root} can be read, written and synced` : `${root} does not exist yet and can be created`
}

export function atomicPublication(paths: StorePaths): Found {
  if (!isOnOneFileSystem(paths)) return { status: 'skipped', detail: 'the store was not created yet' }
  return 'uploads and payload files are on one file system'
}

/** Whether a request, or a pass over all rows, has met a damaged one. Rows are not read here. */
export function damagedRows(paths: StorePaths): Found {
  if (!nodeDisk.exists(paths.projections)) {
    return { status: 'skipped', detail: 'there are none: the next start derives them from the journal' }
  }
  const noted = notedDamage(nodeDisk, paths)
  if (noted === undefined) return 'no damaged row was met since the last start'
  const [, table = '', row = ''] = /^table (\S+), key ([0-9a-f]+)/.exec(noted) ?? []
  const target = targetOfRow(table, row)
  const object = target === undefined ? '' : `, of ${visibleText(target.key)} in bucket ${target.bucketId}`
  return { status: 'warning', detail: `a row is damaged (${noted}${object}): what it is of answers with 503` }
}

export function freeSpace(config: Config, paths: StorePaths): Found {
  const place = nodeDisk.exists(paths.root) ? paths.root : dirname(paths.root)
  const { availableBytes, capacityBytes } = nodeDisk.space(place)
  const share = availableBytes / capacityBytes
  const text = `${Math.floor(availableBytes / MEBIBYTE)} MiB of ${Math.floor(capacityBytes / MEBIBYTE)} MiB are free`
  if (availableBytes < config['storage.reserved_mib'] * MEBIBYTE) throw new Error(`${text}: every upload is refused`)
  return share < FREE_SHARE ? { status: 'warning', detail: `${text}, less than a fifth` } : text
}
