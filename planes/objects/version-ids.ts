import type { Sequence } from '../../engine/brands.ts'
import type { VersionName } from '../../engine/commands/commands.ts'
import type { OpaqueIds } from '../../engine/keys/opaque-ids.ts'

/** What the id of a version is made of. */
interface Version {
  /** Whether its id is `null`: it was written without versioning. */
  readonly isNull: boolean
  readonly sequence: Sequence
}

/** The id of a version as clients see it. */
export function versionIdOf({ isNull, sequence }: Version, ids: OpaqueIds): string {
  return isNull ? 'null' : ids.encode(sequence)
}

/** The ids of many versions, at less cost than one by one. */
export function versionIdsOf(versions: readonly Version[], ids: OpaqueIds): string[] {
  const encoded = ids.encodeAll(versions.map(({ sequence }) => sequence))
  return versions.map(({ isNull }, index) => (isNull ? 'null' : (encoded[index] as string)))
}

/** The id of what a selector selects. */
export function idOfSelector(selector: VersionName, ids: OpaqueIds): string {
  return selector === 'null' ? selector : ids.encode(selector)
}

/** What a version id selects; undefined for an id that this store never gave out. */
export function selectorOf(id: string, ids: OpaqueIds): VersionName | undefined {
  return id === 'null' ? id : ids.decode(id)
}
