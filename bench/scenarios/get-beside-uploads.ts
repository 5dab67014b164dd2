import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Target } from '../bench.ts'
import { getLoad } from '../load.ts'
import { sampleOfObjects } from '../object-keys.ts'
import { memoryUsage } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'
import { SMALL_BYTES } from '../sizes.ts'

const UPLOADS = 10
const OBJECTS = 1000
const CONNECTIONS = 4
/** About 200 GETs a second: small requests with a waiting user, not all that the server can give. */
const PAUSE_MILLISECONDS = 20
const PIECE_BYTES = 256 * 1024

export const getBesideUploads: Scenario = {
  name: 'get-beside-uploads',
  title: 'GET of 4 KiB beside ten large uploads',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      await target.client.fill(target.bucket, 0, OBJECTS, randomBytes(SMALL_BYTES))
      const gets = getLoad(target.bucket, sampleOfObjects(OBJECTS, OBJECTS), SMALL_BYTES, 'time')
      const load = { ...gets, pauseMilliseconds: PAUSE_MILLISECONDS }
      await bench.warmUp(target, load, CONNECTIONS)
      const stop = new AbortController()
      setMaxListeners(0, stop.signal)
      const uploads = uploadUntil(target, bench.settings.transferBytes, stop.signal)
      const measured = bench.runLoad(target, load, CONNECTIONS, bench.settings.seconds).finally(() => stop.abort())
      const [{ latency, requestsPerSecond }] = await Promise.all([measured, uploads])
      bench.add({
        name: 'get-beside-uploads-p99',
        label: `99 of 100 GETs of 4 KiB beside ${UPLOADS} uploads take at most`,
        value: latency.p99,
        unit: 'ms',
        latency,
        note: `${requestsPerSecond.toFixed(0)} GETs a second; the uploads are sent by one Node process on the same machine`,
      })
      if (target.pid === undefined) return
      bench.add({
        name: 'get-beside-uploads-memory',
        label: 'Largest resident set of the server meanwhile',
        value: memoryUsage(target.pid).peak,
        unit: 'MiB',
      })
    }),
}

/** Uploads without end until the signal. @throws when one fails before */
async function uploadUntil({ client, bucket }: Target, bytes: number, signal: AbortSignal): Promise<void> {
  const piece = randomBytes(PIECE_BYTES)
  const one = async (index: number): Promise<void> => {
    while (!signal.aborted) {
      try {
        await client.upload(`/${bucket}/large-${index}`, piece, bytes, signal)
      } catch (error) {
        if (!signal.aborted) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: UPLOADS }, (_, index) => one(index)))
}
