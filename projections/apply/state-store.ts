import { type VolumeNumber, volumeNumberOf } from '../../engine/brands.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import type { StateStore, StateTransaction } from '../../engine/state-store.ts'
import type { AccessSeal } from './access-seal.ts'
import { readNumber } from '../keys.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { type Recounted, recountWrong } from './recount.ts'
import { type BatchEnding, TableTransaction } from './state-transaction.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { getAccessCode } from '../access/tables.ts'
import { getApplied, SCHEMA_VERSION } from '../tables/applied.ts'
import { volumeUsage } from '../tables/usage.ts'

/** The projections as the engine uses them. */
export class ProjectionStateStore implements StateStore {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables
  readonly #ending: BatchEnding = {
    recount: () => this.#recount(),
    seal: () => this.#seal?.write(),
    damaged: (error) => this.#environment.damaged(error),
  }
  /** The tables as the seal follows them. */
  #followed: Tables
  #seal: AccessSeal | undefined
  #tell: (recounted: Recounted) => void = () => undefined

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
    this.#followed = this.#tables
  }

  /** Position of the rows, if they have this program's layout. */
  applied(): AppliedPosition | undefined {
    const found = getApplied(this.#tables.applied)
    return found?.schemaVersion === SCHEMA_VERSION ? found.position : undefined
  }

  /** Version of the layout of the rows; undefined without rows. */
  get schemaVersion(): number | undefined {
    return getApplied(this.#tables.applied)?.schemaVersion
  }

  /** The last change of access. */
  accessCode(): Uint8Array {
    return getAccessCode(this.#tables.accessVersion)
  }

  /** Has later writes of access sealed. */
  sealWith(seal: AccessSeal): void {
    this.#seal = seal
    this.#followed = seal.followed(this.#tables)
  }

  /** Reports the counters of a batch that were wrong, and were counted again. */
  tellRecounts(tell: (recounted: Recounted) => void): void {
    this.#tell = tell
  }

  update<T>(work: (state: StateTransaction) => T): T {
    const run = () => this.#environment.write(() => work(new TableTransaction(this.#followed, this.#ending)))
    return this.#seal === undefined ? run() : this.#seal.guarded(run)
  }

  #recount(): void {
    for (const recounted of recountWrong(this.#tables)) this.#tell(recounted)
  }

  volumeEnd(): { readonly volume: VolumeNumber; readonly end: number } | undefined {
    for (const { key, value } of this.#tables.volumeUsage.rows({ reverse: true, limit: 1 })) {
      return { volume: volumeNumberOf(readNumber(key, 0)), end: volumeUsage.decode(value).end }
    }
    return undefined
  }
}
