import type { Disk } from '../../../engine/disk/disk.ts'
import { RowDamagedError } from '../../../engine/errors.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { putBack } from '../../../projections/next-projections.ts'
import type { OpenStore, StoreHooks } from './opened-store.ts'
import { changeMasterKey, mustChangeMasterKey } from './change-master-key.ts'
import type { StoreOptions } from './store-options.ts'
import { closeQuietly, type Opened } from './opened-parts.ts'
import type { OpenOptions } from './engine-parts.ts'
import { recoverStore } from './recover-store.ts'
import { startEngine } from './start-engine.ts'

/**
 * Opens a data directory: recovers the journal, brings the projections up to it, and starts the engine. Nothing is served
 * before the state matches the journal, and no acknowledged entry is cut off.
 * @throws JournalDamagedError, AcknowledgedDataLostError, MasterKeyMismatchError
 */
export async function openStore(
  disk: Disk,
  paths: StorePaths,
  options: StoreOptions,
  hooks: StoreHooks,
): Promise<OpenStore> {
  const opening = (asked: OpenOptions, told: StoreHooks) => openTwice(disk, paths, asked, told)
  const changedMasterKey = mustChangeMasterKey(disk, paths, options)
    ? await changeMasterKey(options, hooks, opening)
    : undefined
  const store = await opening(options, hooks)
  return { ...store, report: { ...store.report, changedMasterKey } }
}

/** A damaged row that replay meets leaves a note, by which the second opening derives all rows again. */
async function openTwice(disk: Disk, paths: StorePaths, options: OpenOptions, hooks: StoreHooks): Promise<OpenStore> {
  try {
    return await openWith(disk, paths, options, hooks)
  } catch (error) {
    if (!(error instanceof RowDamagedError)) throw error
    return openWith(disk, paths, options, hooks)
  }
}

async function openWith(disk: Disk, paths: StorePaths, options: OpenOptions, hooks: StoreHooks): Promise<OpenStore> {
  const opened: Opened[] = []
  try {
    return await startEngine(await recoverStore(disk, paths, options, hooks, opened))
  } catch (error) {
    for (const part of opened.toReversed()) await closeQuietly(part)
    await closeQuietly({ close: () => putBack(disk, paths) })
    throw error
  }
}
