/** What a start asks of the master key and of the changes of access in the journal. */
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { ChangeNamed } from '../../../engine/events/changes.ts'
import { decodeGenesis, type Genesis } from '../../../engine/journal/bodies.ts'
import { readGenesis } from '../../../engine/journal/read-journal.ts'
import type { AccessChain } from '../../../engine/keys/access-authentication.ts'
import type { ProjectionsBefore } from '../../../projections/open-projections.ts'
import { isMasterKeyOf, type StoreKeys, storeKeys } from '../../../engine/keys/store-keys.ts'

/** The master key is not the one of this store. */
export class MasterKeyMismatchError extends Error {
  override readonly name = 'MasterKeyMismatchError'
}

/** Who may do what was decided before such changes were authenticated, and nobody with the master key has vouched for it. */
export class AccessNotAdoptedError extends Error {
  override readonly name = 'AccessNotAdoptedError'
}

/**
 * What projections and snapshots are recognized by, when it can be told before the journal is examined. Undefined when the
 * genesis cannot be read or is of another master key: no projections are thrown away for that, and it ends the start later on,
 * with its reason.
 */
export function earlyIdentity(disk: Disk, paths: StorePaths, masterKey: Uint8Array): ProjectionsBefore['identity'] {
  try {
    const genesis = decodeGenesis(readGenesis(disk, paths))
    if (!isMasterKeyOf(genesis, masterKey)) return undefined
    const { deploymentId } = genesis
    const rowKey = storeKeys(masterKey, deploymentId).accessRows
    return { rowKey, deploymentId: Buffer.from(deploymentId).toString('hex') }
  } catch {
    return undefined
  }
}

/**
 * The keys of a store that no server has open.
 * @throws JournalDamagedError, MasterKeyMismatchError
 */
export function keysOf(disk: Disk, paths: StorePaths, masterKey: Uint8Array): StoreKeys {
  const genesis = decodeGenesis(readGenesis(disk, paths))
  requireMasterKey(genesis, masterKey)
  return storeKeys(masterKey, genesis.deploymentId)
}

/** @throws MasterKeyMismatchError */
export function requireMasterKey(genesis: Genesis, masterKey: Uint8Array): void {
  if (isMasterKeyOf(genesis, masterKey)) return
  throw new MasterKeyMismatchError('the credential master key is not the one of this store')
}

/**
 * The change that vouches for what was not authenticated, if there is any.
 * @throws AccessNotAdoptedError
 */
export function requireAdopted(
  { strangers, strangersDigest }: AccessChain,
  { adoptsAccess = false }: { readonly adoptsAccess?: boolean },
): readonly ChangeNamed<'access.adopted'>[] {
  if (strangers === 0) return []
  if (adoptsAccess) {
    return [{ name: 'access.adopted', entries: strangers, digest: strangersDigest }]
  }
  throw new AccessNotAdoptedError(
    `${strangers} entries of the journal say who may do what and are not authenticated: they are from a version that did ` +
      'not do that, or somebody else wrote them. "object-store access adopt" shows the accounts, policies and tokens that they ' +
      'make, and with --yes vouches for them.',
  )
}
