import { setImmediate } from 'node:timers/promises'
import type { PayloadId } from '../../engine/brands.ts'
import type { CatalogReader } from './catalog-reader.ts'
import { HolderSearch } from './payload-holders.ts'

/** Rows that a search reads before other work gets a turn. */
const ROWS = 500
/** Objects that are named for one payload; copies share theirs. */
const OBJECTS_MAXIMUM = 10

/**
 * The objects that payloads belong to, as `bucket/key`, for messages about damage. Reads the whole catalog once.
 * @returns no row for a payload that is not in the catalog
 */
export async function namesOfPayloads(
  catalog: CatalogReader,
  payloads: readonly PayloadId[],
): Promise<ReadonlyMap<PayloadId, readonly string[]>> {
  const rows = payloads.flatMap((payload) => {
    const [row] = catalog.snapshot().storedPayloads(payload - 1, 1)
    return row?.payload === payload ? [row] : []
  })
  const search = new HolderSearch(rows, OBJECTS_MAXIMUM)
  if (rows.length > 0) while (catalog.snapshot().searchHolders(search, ROWS)) await setImmediate()
  const snapshot = catalog.snapshot()
  return new Map(
    rows.map(({ payload }) => [
      payload,
      search
        .holdersOf(payload)
        .map(({ bucketId, key }) => `${snapshot.bucketName(bucketId) ?? `bucket ${bucketId}`}/${key}`),
    ]),
  )
}

/** ` (photos/cat.jpg, photos/copy.jpg)`; empty where no object is known. */
export function inBrackets(names: readonly string[] | undefined): string {
  return names === undefined || names.length === 0 ? '' : ` (${names.join(', ')})`
}
