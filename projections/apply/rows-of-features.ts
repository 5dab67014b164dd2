/** The rows of every feature, by the name of the feature. */
import type { Sequence } from '../../engine/brands.ts'
import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { Change, ChangeHandlers } from '../../engine/events/changes.ts'
import type { ChangesOf } from '../../engine/events/schema/change.ts'
import { merged } from '../../engine/merged.ts'
import { features } from '../features.ts'
import type { Tables } from '../tables/table-list.ts'
import type { FeatureRows } from './feature-rows.ts'
import type { VersionRows } from './version-rows.ts'

const CLASSES = merged(features.map(({ rows }) => rows))
type Classes = typeof CLASSES

/** In one transaction. */
export type RowsOfFeatures = { readonly [N in keyof Classes]: InstanceType<Classes[N]> }
type Made = new (tables: Tables, versions: VersionRows) => FeatureRows
const ALL: readonly (readonly [name: string, rows: Made])[] = Object.entries<Made>(CLASSES)

export function rowsOfFeatures(tables: Tables, versions: VersionRows): RowsOfFeatures {
  const made: Record<string, FeatureRows> = {}
  for (const [name, Rows] of ALL) made[name] = new Rows(tables, versions)
  return made as unknown as RowsOfFeatures
}

type NamesOf<Schemas> = Schemas extends unknown ? ChangesOf<Schemas>['name'] : never
type AppliedNames = NamesOf<(typeof features)[number]['changes']>

/**
 * One row for each change of a feature.
 * @param rowsOf finds the rows in what the changes are applied to
 */
export function featureHandlers<T>(rowsOf: (target: T) => RowsOfFeatures): Pick<ChangeHandlers<T>, AppliedNames> {
  const rows = features.flatMap(({ changes, rows: named }) => {
    const [name] = Object.keys(named) as [keyof RowsOfFeatures]
    return Object.values<{ readonly name: string }>(changes).map((schema) => [
      schema.name,
      (target: T, change: Change, sequence: Sequence, times: RecordTimes) =>
        (rowsOf(target)[name] as FeatureRows<Change>).apply?.(sequence, times, change),
    ])
  })
  return Object.fromEntries(rows) as Pick<ChangeHandlers<T>, AppliedNames>
}
