import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Sequence } from '../brands.ts'
import * as access from './changes.ts'
import type { Change, ChangeNamed } from '../events/changes.ts'
import type { AccessChange } from './change-types.ts'
import * as sharing from '../links/changes.ts'
import * as webhooks from '../webhooks/changes.ts'
import { HOST_TIME_BYTES, writeUint64 } from '../journal/format.ts'
import { hasOwnTime, type RecordTimes } from '../journal/record-times.ts'
import { MasterKeyMismatchError } from '../keys/master-key-id.ts'
import type { StoreKeys } from '../keys/store-keys.ts'

const MAC_BYTES = 32
const NUMBER_BYTES = 8
const NAMES: ReadonlySet<string> = new Set(
  Object.values({ ...access, ...webhooks, ...sharing }).map(({ name }) => name),
)

/** The code before the first change of access. */
export const NO_ACCESS_CODE: Uint8Array = Buffer.alloc(MAC_BYTES)

/** A change of access in the journal that the holder of the master key did not write, or not there. */
export class AccessForgedError extends Error {
  override readonly name = 'AccessForgedError'
}

/** An entry of the journal as it is stored. */
interface StoredEntry extends RecordTimes {
  readonly sequence: Sequence
  /** The MessagePack, without a time before it. */
  readonly body: Uint8Array
}

export function changesAccess(changes: readonly Change[]): boolean {
  return changes.some(({ name }) => NAMES.has(name))
}

/** The last change of an entry that changes access, until its code is known. */
export const UNSIGNED: AccessChange = { name: 'access.authenticated', mac: Buffer.alloc(MAC_BYTES) }

/**
 * Authenticates the changes of access: without the master key no change can be written, altered, moved, or left out
 * between others (spec/formats/journal.md, "Access").
 */
export class AccessAuthentication {
  readonly #keys: Pick<StoreKeys, 'accessChanges' | 'earlier'>

  constructor(keys: Pick<StoreKeys, 'accessChanges' | 'earlier'>) {
    this.#keys = keys
  }

  /**
   * Writes the code into a body that ends with `UNSIGNED`.
   * @param previous the code before
   */
  sign(previous: Uint8Array, entry: StoredEntry): Uint8Array {
    const mac = macOf(this.#keys.accessChanges, previous, entry)
    entry.body.set(mac, entry.body.length - MAC_BYTES)
    return mac
  }

  /**
   * The code of an entry that changes access.
   * @param previous the code before, which it covers
   * @throws AccessForgedError; MasterKeyMismatchError for a change to a key that is not known
   */
  follow(previous: Uint8Array, entry: StoredEntry, changes: readonly Change[]): Uint8Array {
    const refuse = (detail: string): never => {
      throw new AccessForgedError(`record ${entry.sequence} changes who may do what and ${detail}`)
    }
    const last = changes.at(-1)
    if (last?.name !== 'access.authenticated') return refuse('is not authenticated')
    if (
      !timingSafeEqual(macOf(this.#keyAt(entry.sequence), previous, entry), last.mac) ||
      !endsWith(entry.body, last.mac)
    ) {
      return refuse('was not written here with the master key of this store')
    }
    const changed = changes.find((change) => change.name === 'master-key.changed')
    if (changed !== undefined) this.#requireKnown(entry.sequence, changed, previous)
    return last.mac
  }

  /** The key of an earlier master key counts no longer after the entry that changed it. */
  #keyAt(sequence: Sequence): Uint8Array {
    const earlier = this.#keys.earlier.findLast(({ changed }) => sequence <= changed.sequence)
    return (earlier ?? this.#keys).accessChanges
  }

  #requireKnown(sequence: Sequence, change: ChangeNamed<'master-key.changed'>, mac: Uint8Array): void {
    const known = this.#keys.earlier.find(({ changed }) => changed.sequence === sequence)?.changed
    if (known === undefined) throw MasterKeyMismatchError.ofEarlier(sequence, change.check)
    const isSame = Buffer.compare(known.sealedPrevious, change.sealedPrevious) === 0
    if (isSame && Buffer.compare(known.after, mac) === 0) return
    throw new AccessForgedError(`record ${sequence} changes the master key and follows others than when it was written`)
  }
}

function macOf(key: Uint8Array, previous: Uint8Array, entry: StoredEntry): Buffer {
  const covered = digestOf(entry, Math.max(0, entry.body.length - MAC_BYTES))
  return createHmac('sha256', key).update(previous).update(numbersOf(entry)).update(covered).digest()
}

/** Sequence and order time. */
function numbersOf({ sequence, orderMicroseconds }: StoredEntry): Buffer {
  const numbers = Buffer.alloc(2 * NUMBER_BYTES)
  numbers.writeBigUInt64BE(BigInt(sequence), 0)
  numbers.writeBigUInt64BE(BigInt(orderMicroseconds), NUMBER_BYTES)
  return numbers
}

/** Digest of the beginning of the body as the record has it: after the host's time, where the record has that. */
function digestOf(entry: StoredEntry, length: number): Buffer {
  const body = entry.body.subarray(0, length)
  if (!hasOwnTime(entry)) return hash('sha256', body, 'buffer')
  const time = Buffer.alloc(HOST_TIME_BYTES)
  writeUint64(time, entry.timeMicroseconds, 0)
  return hash('sha256', Buffer.concat([time, body]), 'buffer')
}

function endsWith(body: Uint8Array, mac: Uint8Array): boolean {
  return Buffer.compare(body.subarray(-MAC_BYTES), mac) === 0
}
