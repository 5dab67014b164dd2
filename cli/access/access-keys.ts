/** Checks at a start of the master key and of the changes of access in the journal. */
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { findKeys } from '../../engine/journal/key-file.ts'
import type { ProjectionsBefore } from '../../projections/open-projections.ts'
import type { StoreKeys } from '../../engine/keys/store-keys.ts'

/** The master keys of a store, or why they are not known. */
export type KeysOutcome = { readonly found: ReturnType<typeof findKeys> } | { readonly failure: unknown }

/** The keys before the journal is examined, which may end the start for its own reason. */
export function earlyKeys(disk: Disk, paths: StorePaths, masterKey: Uint8Array): KeysOutcome {
  try {
    return { found: findKeys(disk, paths, masterKey) }
  } catch (failure) {
    return { failure }
  }
}

/**
 * The identity by which projections and snapshots are recognized. Undefined when the genesis cannot be read or is of
 * another master key: projections are not thrown away for that, and it ends the start later, with its reason.
 */
export function identityOf(keys: KeysOutcome): ProjectionsBefore['identity'] {
  if (!('found' in keys)) return undefined
  const { ring } = keys.found
  return { rowKey: ring.storeKeys().accessRows, deploymentId: Buffer.from(ring.deploymentId).toString('hex') }
}

/**
 * The keys of a store.
 * @throws JournalDamagedError, MasterKeyMismatchError
 */
export function keysOf(disk: Disk, paths: StorePaths, masterKey: Uint8Array): StoreKeys {
  return findKeys(disk, paths, masterKey).ring.storeKeys()
}
