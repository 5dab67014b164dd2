import { join } from 'node:path'
import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { isRowDamage } from '../../engine/errors.ts'
import { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import type { StoredPayload } from '../../projections/catalog/catalog-snapshot.ts'
import type { StoredVolume } from '../../projections/tables/usage.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { replay } from '../../projections/replay/replay.ts'
import { getApplied, layoutOf, SCHEMA_VERSION } from '../../projections/tables/applied.ts'
import { TABLES } from '../../projections/tables/table-list.ts'
import type { JournalPoint } from './manifest.ts'

const PAGE = 1000

/** Whether a kept state is empty, or is of this layout and ends with the given record. */
function continues(
  environment: ProjectionEnvironment,
  last: Pick<JournalPoint, 'sequence' | 'hash'> | undefined,
): boolean {
  const layout = layoutOf(environment.rawTable(TABLES.applied))
  if (layout !== SCHEMA_VERSION) return layout === undefined
  try {
    const position = getApplied(environment.table(TABLES.applied))?.position
    return position?.sequence === last?.sequence && Buffer.from(position?.head ?? []).toString('hex') === last?.hash
  } catch (error) {
    if (!isRowDamage(error)) throw error
    return false
  }
}

/** The references of a journal at one of its records: derived from a copy of it, so it needs no server. */
export class PayloadState {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #directory: string
  readonly #environment: ProjectionEnvironment
  readonly #catalog: CatalogReader

  private constructor(disk: Disk, paths: StorePaths, directory: string, environment: ProjectionEnvironment) {
    this.#disk = disk
    this.#paths = paths
    this.#directory = directory
    this.#environment = environment
    this.#catalog = new CatalogReader(environment)
  }

  /**
   * Opens the state in a directory, which is created if it is missing.
   * @param paths where the journal is
   */
  static open(disk: Disk, paths: StorePaths, directory: string): PayloadState {
    disk.makeDirectory(directory)
    return new PayloadState(disk, paths, directory, ProjectionEnvironment.open(directory, { readOnly: false }))
  }

  /**
   * Continues from the kept state of an earlier run, if that ends with the given record; otherwise makes a new one.
   * @param kept a directory, or undefined
   */
  static async reopen(
    disk: Disk,
    paths: StorePaths,
    directory: string,
    last: Pick<JournalPoint, 'sequence' | 'hash'> | undefined,
  ): Promise<PayloadState> {
    const state = PayloadState.open(disk, paths, directory)
    if (continues(state.#environment, last)) return state
    await state.close()
    disk.removeTree(directory)
    return PayloadState.open(disk, paths, directory)
  }

  /**
   * Reads the journal up to a record that ends a batch.
   * @throws JournalDamagedError
   */
  advance(until: Sequence, progress?: (records: number) => void): void {
    const applied = getApplied(this.#environment.table(TABLES.applied))
    replay(this.#disk, this.#paths, this.#environment, applied?.position, { until, progress })
  }

  /** Its objects. */
  get catalog(): CatalogReader {
    return this.#catalog
  }

  /** The last record of the state. */
  get sequence(): Sequence | undefined {
    return getApplied(this.#environment.table(TABLES.applied))?.position.sequence
  }

  /** Payloads by id, parts of multipart objects among them. */
  *payloads(): Generator<StoredPayload> {
    for (let after = -1; ; ) {
      const page = this.#catalog.snapshot().storedPayloads(after, PAGE)
      yield* page
      const last = page.at(-1)
      if (last === undefined) return
      after = last.payload
    }
  }

  /** A payload, undefined when nothing refers to it. */
  payload(id: StoredPayload['payload']): StoredPayload['location'] | undefined {
    return this.#catalog.snapshot().payload(id)
  }

  /** Volumes with payloads in use. */
  volumes(): StoredVolume[] {
    return this.#catalog
      .snapshot()
      .volumes()
      .filter(({ payloads }) => payloads > 0)
  }

  /** Bytes of all payloads in use, and their number. */
  usage(): { readonly files: number; readonly bytes: number } {
    const { files, fileBytes, usedVolumeBytes } = this.#catalog.snapshot().payloadUsage()
    return { files, bytes: fileBytes + usedVolumeBytes }
  }

  /** Makes the state durable under another name. */
  async keep(as: string): Promise<void> {
    await this.#environment.sync()
    await this.#environment.close()
    this.#disk.removeTree(as)
    this.#disk.rename(this.#directory, as)
    this.#disk.syncDirectory(join(as, '..'))
  }

  close(): Promise<void> {
    return this.#environment.close()
  }
}
