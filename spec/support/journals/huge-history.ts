/** Journals whose rules an earlier version did not know: sums of bytes beyond every bound. Sizes are only numbers here. */
import { masterKeyCheck } from '../../../engine/keys/store-keys.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type Change, type ChangeNamed, encodeChange } from '../../../engine/events/changes.ts'
import { branded, type Plain } from '../plain.ts'
import { MASTER_KEY } from '../test-store.ts'
import { JournalBuilder } from './journal-builder.ts'
import type { EntryFields } from './journal-bytes.ts'

export const LARGEST = 5 * 1024 ** 4
const ENTRIES_PER_BATCH = 100
const DEPLOYMENT_ID = Buffer.alloc(16, 0xd7)

/** A version that a history wrote, and has not deleted. */
export interface HugeVersion {
  readonly key: string
  readonly sequence: number
  readonly size: number
}

const sum = (some: Iterable<HugeVersion>) => [...some].reduce((bytes, { size }) => bytes + BigInt(size), 0n)

/** Writes entries on one bucket with versioning, as the rules before the bounds accepted them. */
export class HugeHistory {
  readonly bucketId: number
  /** Oldest first. */
  readonly versions: HugeVersion[] = []
  readonly #builder = new JournalBuilder({
    deploymentId: DEPLOYMENT_ID,
    masterKeyCheck: masterKeyCheck(MASTER_KEY, DEPLOYMENT_ID),
  })
  #waiting: EntryFields[] = []

  constructor() {
    this.bucketId = this.#next
    this.#change<'bucket.created'>({
      name: 'bucket.created',
      bucket: 'huge',
      bucketId: this.bucketId,
      region: 'eu',
      lockEnabled: false,
    })
    this.#change<'bucket.versioning-set'>({
      name: 'bucket.versioning-set',
      bucket: 'huge',
      bucketId: this.bucketId,
      versioning: 'enabled',
    })
  }

  /** Sum of the sizes of all versions, and of the newest of each key. */
  get bytes(): { readonly current: bigint; readonly noncurrent: bigint } {
    const newest = new Map(this.versions.map((version) => [version.key, version]))
    const current = sum(newest.values())
    return { current, noncurrent: sum(this.versions) - current }
  }

  /** A new version of a key: a payload file of its own, or the bytes of an earlier one. */
  write(key: string, size: number, shares?: number): HugeVersion {
    const sequence = this.#next
    const replaced = this.versions.some((version) => version.key === key)
    const payload =
      shares === undefined
        ? {
            kind: 'file' as const,
            payload: sequence,
            name: sequence.toString(16).padStart(28, '0'),
            length: size,
            sealed: false,
          }
        : { kind: 'shared' as const, payload: shares }
    this.#change<'object.written'>({
      name: 'object.written',
      bucketId: this.bucketId,
      key,
      size,
      etag: 'ab'.repeat(16),
      digest: Buffer.alloc(32, 7),
      headers: [],
      metadata: [],
      payload,
      replaced,
      version: { isNull: false, replacesNull: undefined },
      lock: undefined,
      checksum: undefined,
      source: undefined,
    })
    const version = { key, sequence, size }
    this.versions.push(version)
    return version
  }

  /** Deletes a version for ever; the newest that is left of its key becomes current. */
  delete(version: HugeVersion): void {
    const same = this.versions.filter(({ key }) => key === version.key)
    const next = same.at(-1) === version ? same.at(-2) : undefined
    this.versions.splice(this.versions.indexOf(version), 1)
    this.#change<'version.deleted'>({
      name: 'version.deleted',
      bucketId: this.bucketId,
      key: version.key,
      version: version.sequence,
      promotes: next?.sequence,
      removed: { isNull: false, isMarker: false, size: version.size },
      current: next && { isNull: false, size: next.size, etag: 'ab'.repeat(16), contentType: '' },
      uncovers: undefined,
    })
  }

  deleteAt(index: number): void {
    this.delete(this.versions[index] as HugeVersion)
  }

  /** Writes the journal and its mark into a directory. */
  save(root: string): StorePaths {
    this.#end()
    const paths = new StorePaths(root)
    this.#builder.write(paths.journal, this.#builder.head())
    return paths
  }

  /** Sequence of the next entry. */
  get #next(): number {
    return this.#builder.nextSequence + this.#waiting.length
  }

  #change<N extends Change['name']>(change: Plain<ChangeNamed<N>>): void {
    this.#waiting.push({ changes: [encodeChange(branded<Change>(change))] })
    if (this.#waiting.length === ENTRIES_PER_BATCH) this.#end()
  }

  #end(): void {
    if (this.#waiting.length > 0) this.#builder.entries(...this.#waiting.splice(0))
  }
}

/**
 * The journal that kept a store from starting: 1,640 versions of 5 TiB that share their bytes take the sum beyond 2^53, where
 * a double does not move by the one byte of each further version; when all are gone again, the sum was below 0.
 */
export function poisoned(): HugeHistory {
  const history = new HugeHistory()
  const { sequence } = history.write('large', LARGEST)
  for (let count = 0; count < 1640; count += 1) history.write('large', LARGEST, sequence)
  for (let count = 0; count < 301; count += 1) history.write('small', 1)
  for (const version of history.versions.filter(({ key }) => key === 'large').toReversed()) history.delete(version)
  for (const version of history.versions.toReversed()) history.delete(version)
  return history
}
