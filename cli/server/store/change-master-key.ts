import { next } from '../../../engine/brands.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { type Disk, isDiskFull } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { findKeys, writeKeyFile } from '../../../engine/journal/key-file.ts'
import type { Journal } from '../../../engine/journal/journal.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { CheckpointKeys } from '../../../engine/checkpoints/checkpoint-keys.ts'
import { changeOfMasterKey, type KeyRing } from '../../../engine/keys/key-ring.ts'
import { MasterKeyMismatchError, masterKeyId } from '../../../engine/keys/master-key-id.ts'
import { keysOfOne, masterKeyCheck, storeKeys } from '../../../engine/keys/store-keys.ts'
import { AccessSeal } from '../../../projections/apply/access-seal.ts'
import { CheckpointReader } from '../../../projections/checkpoints/reader.ts'
import type { OpenedProjections } from '../../../projections/open-projections.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { earlyKeys } from '../../access/access-keys.ts'
import type { OpenStore, StoreHooks } from './opened-store.ts'
import type { StoreOptions } from './store-options.ts'

const MASTER_KEY_CHANGE = systemAudit('operator', 'master-key.change', 'master-key')

/** Opens the store with its key and gives it another one. */
type Opening = (options: StoreOptions & { readonly nextMasterKey: Uint8Array }, hooks: StoreHooks) => Promise<OpenStore>

/** Writes the missing key file. On a full disk the next start does: the journal has all of its content. */
export function keepKeys(disk: Disk, paths: StorePaths, ring: KeyRing): void {
  try {
    writeKeyFile(disk, paths, ring)
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}

/** Whether a store still has the key that is to be changed, and never had the new one. */
export function mustChangeMasterKey(
  disk: Disk,
  paths: StorePaths,
  { masterKey, previousMasterKey }: Pick<StoreOptions, 'masterKey' | 'previousMasterKey'>,
): boolean {
  if (previousMasterKey === undefined || segmentFirsts(disk, paths).length === 0) return false
  const keys = earlyKeys(disk, paths, masterKey)
  const isNew = 'failure' in keys && keys.failure instanceof MasterKeyMismatchError && !keys.failure.isEarlier
  return isNew && 'found' in earlyKeys(disk, paths, previousMasterKey)
}

/**
 * Opens the store with the key that it has, gives it the new one and closes it. A crash leaves it with either; both are
 * given until it has the new one.
 * @returns the id of the new key
 */
export async function changeMasterKey(options: StoreOptions, { clock }: StoreHooks, opening: Opening) {
  let failure: unknown
  const onFailure = (error: unknown) => {
    failure ??= error
  }
  const { masterKey: nextMasterKey, previousMasterKey } = options
  const before = { ...options, masterKey: previousMasterKey as Uint8Array, nextMasterKey }
  try {
    const store = await opening(before, { onFailure, onBatchDone: () => undefined, ...(clock && { clock }) })
    await store.close(failure === undefined)
    if (failure === undefined) return masterKeyId(masterKeyCheck(nextMasterKey, Buffer.from(store.deploymentId, 'hex')))
  } catch (error) {
    throw failure ?? error
  }
  throw failure
}

/** The open parts of a store that a change of its master key needs. */
interface ChangedParts {
  readonly disk: Disk
  readonly paths: StorePaths
  readonly ring: KeyRing
  readonly journal: Pick<Journal, 'position'>
  readonly projections: Pick<OpenedProjections, 'state' | 'environment'>
  /** Undefined when the key stays. */
  readonly nextMasterKey: Uint8Array | undefined
}

/**
 * Records the change of the master key, and in the same entry that the log of checkpoints has a key of the new one.
 * Before that the key file gets the position to search from, so that no start after a crash takes the previous key for
 * the current one.
 */
export async function recordKeyChange(client: EngineClient, parts: ChangedParts): Promise<void> {
  const { disk, paths, ring, journal, projections, nextMasterKey } = parts
  if (nextMasterKey === undefined) return
  writeKeyFile(disk, paths, ring, next(journal.position.sequence))
  const { state, environment } = projections
  const change = changeOfMasterKey(ring.masterKey, nextMasterKey, ring.deploymentId, state.accessCode())
  // The transaction that applies the change seals the rows with the new key; the sum of the rows does not change.
  const seal = new AccessSeal(environment, keysOfOne(nextMasterKey, ring.deploymentId).accessRows)
  seal.holds()
  state.sealWith(seal)
  const changes = [{ name: 'master-key.changed', ...change } as const, ...handOver(parts, nextMasterKey)]
  await client.execute({ kind: 'record-server-event', audit: MASTER_KEY_CHANGE, changes })
  writeKeyFile(disk, paths, findKeys(disk, paths, nextMasterKey).ring)
}

/** Holders of the old key must not be able to sign; before the first checkpoint no verifier knows a key. */
function handOver({ ring, projections }: ChangedParts, nextMasterKey: Uint8Array) {
  const { last, handover } = new CheckpointReader(projections.environment).state()
  if (last === undefined) return []
  const [before, after] = [ring.storeKeys(), storeKeys(nextMasterKey, ring.deploymentId)].map(
    (keys) => new CheckpointKeys(keys),
  ) as [CheckpointKeys, CheckpointKeys]
  return [{ name: 'checkpoint.key-rotated', ...before.handOver({ last, handover }, after) } as const]
}
