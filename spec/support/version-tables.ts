/** Versions of keys as rows and as a list beside them, without a journal. */
import { bucketIdOf, microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import { mkdirSync } from 'node:fs'
import { oneTime } from '../../engine/journal/record-times.ts'
import type { Change, ChangeNamed } from '../../engine/events/changes.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { TableTransaction } from '../../projections/apply/state-transaction.ts'
import { openTables, type Tables } from '../../projections/tables/table-list.ts'
import { digestOf, md5Of } from './commands.ts'

const NOTHING = Buffer.alloc(0)

export interface ListedInModel {
  readonly key: string
  readonly sequence: number
  readonly isNull: boolean
  readonly isMarker: boolean
}

/** What is done to a key: `pick` chooses the version that is deleted. */
export interface VersionStep {
  readonly kind: 'version' | 'marker' | 'delete'
  readonly key: string
  readonly isNull: boolean
  readonly pick: number
}

/** Tables that steps are applied to, and the versions that must be there. Sequences begin at 1. */
export class VersionFixture {
  readonly tables: Tables
  /** Versions of each key, newest first. */
  readonly #keys = new Map<string, ListedInModel[]>()
  readonly #environment: ProjectionEnvironment
  #sequence = 0

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true })
    this.#environment = ProjectionEnvironment.open(directory, { readOnly: false })
    this.tables = openTables(this.#environment)
  }

  /** Every version and marker with whether it is the newest of its key. */
  get versions(): (ListedInModel & { readonly isLatest: boolean })[] {
    return [...this.#keys.values()].flatMap((all) => all.map((one, index) => ({ ...one, isLatest: index === 0 })))
  }

  /** The greatest sequence that was given, also to what is deleted. */
  get sequence(): number {
    return this.#sequence
  }

  apply(bucketId: number, steps: readonly VersionStep[]): void {
    this.#environment.write(() => {
      const transaction = new TableTransaction(this.tables)
      for (const step of steps) {
        const changes = this.#changeOf(bucketId, step)
        if (changes !== undefined)
          transaction.apply(sequenceOf(this.#sequence), oneTime(microsecondsOf(this.#sequence)), [changes])
      }
    })
    this.#environment.refresh()
  }

  /** Further rows, of which the list knows nothing. */
  write(work: (transaction: TableTransaction) => void): void {
    this.#environment.write(() => work(new TableTransaction(this.tables)))
    this.#environment.refresh()
  }

  close(): Promise<void> {
    return this.#environment.close()
  }

  #changeOf(bucketId: number, { kind, key, isNull, pick }: VersionStep): Change | undefined {
    const there = this.#keys.get(key) ?? []
    this.#sequence += 1
    if (kind === 'delete') {
      const gone = there[pick % Math.max(1, there.length)]
      if (gone === undefined) return undefined
      const kept = there.filter((one) => one !== gone)
      this.#keys.set(key, kept)
      const [next] = kept
      const promotes = there[0] === gone && next?.isMarker === false ? sequenceOf(next.sequence) : undefined
      const uncovers = there[0] === gone && next?.isMarker === true ? sequenceOf(next.sequence) : undefined
      return {
        name: 'version.deleted',
        bucketId: bucketIdOf(bucketId),
        key,
        version: sequenceOf(gone.sequence),
        promotes,
        removed: { isNull: gone.isNull, isMarker: gone.isMarker, size: 1 },
        current: undefined,
        uncovers,
      }
    }
    const replaced = isNull ? there.find((one) => one.isNull) : undefined
    const added = { key, sequence: this.#sequence, isNull, isMarker: kind === 'marker' }
    this.#keys.set(key, [added, ...there.filter((one) => one !== replaced)])
    const version = { isNull, replacesNull: replaced && sequenceOf(replaced.sequence) }
    if (kind === 'marker') return { name: 'marker.written', bucketId: bucketIdOf(bucketId), key, version }
    const replacesCurrent = there[0]?.isMarker === false
    return { ...emptyObject(bucketId, key), replaced: replacesCurrent, version }
  }
}

/** An object of no bytes. */
export function emptyObject(bucketId: number, key: string): ChangeNamed<'object.written'> {
  return {
    name: 'object.written',
    bucketId: bucketIdOf(bucketId),
    key,
    size: 0,
    etag: md5Of(NOTHING),
    digest: digestOf(NOTHING),
    headers: [],
    metadata: [],
    payload: undefined,
    replaced: false,
    version: undefined,
    lock: undefined,
    checksum: undefined,
    source: undefined,
  }
}
