import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { Sequence } from '../../engine/brands.ts'
import type { ScrubProgress } from '../../engine/events/values.ts'
import type { ScrubChange } from '../../engine/scrub/change-types.ts'
import type { ScrubState } from '../../engine/scrub/state.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import type { NamedTables } from '../tables/named-tables.ts'
import { applyScrub, getScrub, type scrubTables } from './tables.ts'

type RowTables = NamedTables<typeof scrubTables>

/** Applies changes to the last pass of the scrub. */
export class ScrubRows implements ScrubState, FeatureRows<ScrubChange> {
  readonly #tables: RowTables

  constructor(tables: RowTables) {
    this.#tables = tables
  }

  scrubProgress(): ScrubProgress | undefined {
    return getScrub(this.#tables.scrub)?.progress
  }

  apply(_sequence: Sequence, { timeMicroseconds }: RecordTimes, change: ScrubChange): void {
    applyScrub(this.#tables.scrub, timeMicroseconds, change)
  }
}
