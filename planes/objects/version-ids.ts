import type { Sequence } from '../../engine/brands.ts'
import type { VersionName } from '../../engine/commands/version-name.ts'
import type { OpaqueIds } from '../../engine/keys/opaque-ids.ts'

/** The members of a version from which its id is made. */
interface Version {
  /** Whether its id is `null`: it was written without versioning. */
  readonly isNull: boolean
  readonly sequence: Sequence
}

/** The external id of a version. */
export function versionIdOf({ isNull, sequence }: Version, ids: OpaqueIds): string {
  return isNull ? 'null' : ids.encode(sequence)
}

/** The external ids of many versions; cheaper than one by one. */
export function versionIdsOf(versions: readonly Version[], ids: OpaqueIds): string[] {
  const encoded = ids.encodeAll(versions.map(({ sequence }) => sequence))
  return versions.map(({ isNull }, index) => (isNull ? 'null' : (encoded[index] as string)))
}

/** The external id of a selected version. */
export function idOfSelector(selector: VersionName, ids: OpaqueIds): string {
  return selector === 'null' ? selector : ids.encode(selector)
}

/** The selector of an external id; undefined for an id that this store never issued. */
export function selectorOf(id: string, ids: OpaqueIds): VersionName | undefined {
  return id === 'null' ? id : ids.decode(id)
}
