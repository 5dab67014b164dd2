import { timingSafeEqual } from 'node:crypto'
import { AccessForgedError } from '../access/access-authentication.ts'
import { SecretBox, SecretBoxError } from './secret-box.ts'
import { keysOfOne, type MasterKeyChange, masterKeyCheck, previousMasterKeyKey, type StoreKeys } from './store-keys.ts'

/** The genesis record's facts about the deployment and its first master key. */
interface Origin {
  readonly deploymentId: Uint8Array
  readonly masterKeyCheck: Uint8Array
}

/** The change that records a new master key. `after`: the code of the change of access before it. */
export function changeOfMasterKey(
  previous: Uint8Array,
  next: Uint8Array,
  deploymentId: Uint8Array,
  after: Uint8Array,
): Omit<MasterKeyChange, 'sequence'> {
  const box = new SecretBox(previousMasterKeyKey(next, deploymentId))
  const sealedPrevious = box.seal(Buffer.from(previous).toString('hex'), contextOf(after))
  return {
    check: Uint8Array.from(masterKeyCheck(next, deploymentId)),
    sealedPrevious: Uint8Array.from(sealedPrevious),
    after: Uint8Array.from(after),
  }
}

/** Binds a sealed key to every change of access before it, which the code covers. */
function contextOf(after: Uint8Array): string {
  return Buffer.from(after).toString('hex')
}

/**
 * All master keys that a store has had, from one of them: each opens the one before
 * (spec/decisions/0040-access-changes-are-authenticated.md).
 */
export class KeyRing {
  readonly deploymentId: Uint8Array
  /** Every change that is known, in the order of the journal. */
  readonly changes: readonly MasterKeyChange[]
  /** From the first to the given one. */
  readonly #masterKeys: readonly Uint8Array[]

  private constructor(
    deploymentId: Uint8Array,
    changes: readonly MasterKeyChange[],
    masterKeys: readonly Uint8Array[],
  ) {
    this.deploymentId = deploymentId
    this.changes = changes
    this.#masterKeys = masterKeys
  }

  /**
   * Undefined for a key that this store never had.
   * @throws AccessForgedError when a change was not written with this key
   */
  static of(origin: Origin, changes: readonly MasterKeyChange[], masterKey: Uint8Array): KeyRing | undefined {
    const { deploymentId } = origin
    const check = masterKeyCheck(masterKey, deploymentId)
    const last = changes.findLastIndex((change) => timingSafeEqual(change.check, check))
    if (last < 0 && !timingSafeEqual(origin.masterKeyCheck, check)) return undefined
    const masterKeys = [masterKey]
    for (let at = last; at >= 0; at -= 1) {
      const before = at === 0 ? origin.masterKeyCheck : (changes[at - 1] as MasterKeyChange).check
      masterKeys.unshift(
        openPrevious(changes[at] as MasterKeyChange, masterKeys[0] as Uint8Array, deploymentId, before),
      )
    }
    return new KeyRing(deploymentId, changes, masterKeys)
  }

  /**
   * The check of the first master key, as the genesis states it, from the current one and every change; undefined for a key that is not
   * the current one.
   * @throws AccessForgedError when a change was not written with this key
   */
  static firstCheck(
    deploymentId: Uint8Array,
    changes: readonly MasterKeyChange[],
    masterKey: Uint8Array,
  ): Uint8Array | undefined {
    const check = masterKeyCheck(masterKey, deploymentId)
    const last = changes.at(-1)
    if (last !== undefined && !timingSafeEqual(last.check, check)) return undefined
    let first = masterKey
    for (let at = changes.length - 1; at >= 0; at -= 1) {
      first = openPrevious(changes[at] as MasterKeyChange, first, deploymentId, changes[at - 1]?.check)
    }
    return masterKeyCheck(first, deploymentId)
  }

  /** False for a key that was changed to another one since. */
  get isCurrent(): boolean {
    return this.#masterKeys.length === this.changes.length + 1
  }

  /** Whether the store was created with the key that was given. */
  get isFirst(): boolean {
    return this.#masterKeys.length === 1
  }

  /** The given key. */
  get masterKey(): Uint8Array {
    return this.#masterKeys.at(-1) as Uint8Array
  }

  /** The change to the key after the given one. */
  get next(): MasterKeyChange | undefined {
    return this.changes[this.#masterKeys.length - 1]
  }

  /**
   * The keys of the store. What clients hold must not change with the master key, so ids, the digests of links and the
   * key that cosigns checkpoints come from the first master key; new data is sealed with the newest. The key of
   * checkpoints changes by a hand-over.
   */
  storeKeys(): StoreKeys {
    const all = this.#masterKeys.map((masterKey) => keysOfOne(masterKey, this.deploymentId))
    const [first, newest] = [all[0], all.at(-1)] as [StoreKeys, StoreKeys]
    const { versionIds, uploadIds, continuationTokens, capabilityDigests, witnessSigning } = first
    const kept = { versionIds, uploadIds, continuationTokens, capabilityDigests, witnessSigning }
    const earlier = this.changes.slice(0, all.length - 1).map((changed, at) => {
      const keys = all[at] as StoreKeys
      const { payloads, credentialSecrets, webhookSecrets, capabilityTokens, capabilityPasswords, accessChanges } = keys
      const sealing = { payloads, credentialSecrets, webhookSecrets, capabilityTokens, capabilityPasswords }
      const { checkpointSigning, checkpointGenerations } = keys
      return { ...sealing, accessChanges, checkpointSigning, checkpointGenerations, changed }
    })
    return { ...newest, ...kept, earlier: earlier.toReversed() }
  }
}

/** @param check that the key before must have; undefined where nothing states it */
function openPrevious(
  { sequence, sealedPrevious, after }: MasterKeyChange,
  masterKey: Uint8Array,
  deploymentId: Uint8Array,
  check: Uint8Array | undefined,
): Buffer {
  try {
    const box = new SecretBox(previousMasterKeyKey(masterKey, deploymentId))
    const previous = Buffer.from(box.open(sealedPrevious, contextOf(after)), 'hex')
    if (check === undefined || timingSafeEqual(masterKeyCheck(previous, deploymentId), check)) return previous
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error
  }
  throw new AccessForgedError(`record ${sequence} changes the master key and was not written here with the new one`)
}
