/** What a bucket with versions must answer, told in the simplest way there is: a list of versions for each key. */
import { byUtf8 } from './list-model.ts'
import type { VersionQuery, WireVersion } from './wire-versions.ts'

export interface ModelVersion {
  readonly id: string
  /** Undefined for a delete marker. */
  readonly body: string | undefined
}

/** Versioning as S3's user guide has it. Ids come from the answers of the server: a model cannot know them. */
export class VersionModel {
  versioning: 'off' | 'enabled' | 'suspended' = 'off'
  /** Versions of each key, newest first. */
  readonly #keys = new Map<string, ModelVersion[]>()

  versions(key: string): readonly ModelVersion[] {
    return this.#keys.get(key) ?? []
  }

  /** The current object; undefined also behind a delete marker. */
  current(key: string): ModelVersion | undefined {
    const newest = this.versions(key)[0]
    return newest?.body === undefined ? undefined : newest
  }

  find(key: string, id: string): ModelVersion | undefined {
    return this.versions(key).find((version) => version.id === id)
  }

  /** Puts a version or a marker on top; one with the id `null` takes the place of the other `null` one. */
  add(key: string, version: ModelVersion): void {
    const kept = this.versions(key).filter(({ id }) => id !== version.id)
    this.#keys.set(key, [version, ...kept])
  }

  removeVersion(key: string, id: string): void {
    const kept = this.versions(key).filter((version) => version.id !== id)
    if (kept.length === 0) this.#keys.delete(key)
    else this.#keys.set(key, kept)
  }

  removeKey(key: string): void {
    this.#keys.delete(key)
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0
  }

  get currentKeys(): string[] {
    return [...this.#keys.keys()].filter((key) => this.current(key) !== undefined)
  }

  get keys(): string[] {
    return [...this.#keys.keys()].toSorted(byUtf8)
  }

  /** All that ListObjectVersions has to say, in its order. */
  get listing(): Pick<WireVersion, 'kind' | 'key' | 'id' | 'isLatest' | 'size'>[] {
    return this.keys.flatMap((key) =>
      this.versions(key).map(({ id, body }, index) => ({
        kind: body === undefined ? ('marker' as const) : ('version' as const),
        key,
        id,
        isLatest: index === 0,
        size: body?.length,
      })),
    )
  }

  /** Entries as `key id`, common prefixes as `key/`, as prefix and delimiter make them. */
  entries({ prefix = '', delimiter = '' }: VersionQuery): string[] {
    const entries: string[] = []
    for (const { key, id } of this.listing) {
      if (!key.startsWith(prefix)) continue
      const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
      const entry = at === -1 ? `${key} ${id}` : key.slice(0, at + delimiter.length)
      if (!entries.includes(entry)) entries.push(entry)
    }
    return entries
  }
}
