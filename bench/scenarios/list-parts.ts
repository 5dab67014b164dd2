import { randomBytes } from 'node:crypto'
import { inParallel } from '../in-parallel.ts'
import { LIST_KEYS, listPartsLoad } from '../load.ts'
import { createUpload, sendPart } from '../multipart.ts'
import { requireElements } from '../page-elements.ts'
import type { Scenario } from '../scenario.ts'
import { USUAL_CONNECTIONS } from '../sizes.ts'

const KEY = 'upload'
const PARTS = 10_000
const PARTS_OF_QUICK_RUN = 2000
/** The least size of a part is asked for only when an upload is completed. */
const PART_BYTES = 64

export const listParts: Scenario = {
  name: 'list-parts',
  title: `ListParts of ${LIST_KEYS} parts, from places all over an upload in progress`,
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const parts = bench.settings.quick ? PARTS_OF_QUICK_RUN : PARTS
      const body = randomBytes(PART_BYTES)
      const upload = await createUpload(target, KEY)
      await inParallel(parts, USUAL_CONNECTIONS, (index) => sendPart(target, upload, index + 1, body))
      const load = listPartsLoad(target.bucket, KEY, upload.id, parts)
      await requireElements(target, load, 'Part', LIST_KEYS)
      await bench.warmUp(target, load, 1)
      const { latency } = await bench.runLoad(target, load, 1, bench.settings.seconds)
      bench.add({
        name: 'list-parts-1000',
        label: `ListParts of ${LIST_KEYS} parts, 1 connection, median`,
        value: latency.p50,
        unit: 'ms',
        latency,
        note: `an upload of ${parts.toLocaleString('en')} parts`,
      })
    }),
}
