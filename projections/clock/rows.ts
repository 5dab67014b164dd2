import type { ClockChange } from '../../engine/clock/change-types.ts'
import type { EndsSpan, EndsState } from '../../engine/state-ports.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import { endsIn } from '../tables/ends.ts'
import type { NamedTables } from '../tables/named-tables.ts'
import type { clockTables } from './tables.ts'

/** Where retentions of versions end. A clock that is set back changes no row: the position has its time. */
export class ClockRows implements EndsState, FeatureRows<ClockChange> {
  readonly #tables: NamedTables<typeof clockTables>

  constructor(tables: NamedTables<typeof clockTables>) {
    this.#tables = tables
  }

  endsIn(span: EndsSpan): boolean {
    return endsIn(this.#tables.lockEnds, span)
  }

  apply(): void {
    // No row has the time.
  }
}
