import { hash, randomBytes } from 'node:crypto'
import type { Target } from '../bench.ts'
import { getLoad } from '../load.ts'
import { objectKey, sampleOfObjects } from '../object-keys.ts'
import type { Scenario } from '../scenario.ts'
import { SMALL_BYTES } from '../sizes.ts'

/** The most that one request names. */
const KEYS = 1000
/** The first of a server take longer, until its code is compiled. */
const WARM_UP_BATCHES = 3
const BATCHES = 10
const OBJECTS = 1000
const CONNECTIONS = 4
/** About 200 GETs a second: small requests with a waiting user. */
const PAUSE_MILLISECONDS = 20

export const deleteInBatches: Scenario = {
  name: 'delete-objects',
  title: 'DeleteObjects of 1,000 keys, and GET of 4 KiB beside it',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(
      async (target) => {
        const { seconds } = bench.settings
        await target.client.fill(target.bucket, 0, (WARM_UP_BATCHES + BATCHES) * KEYS, randomBytes(SMALL_BYTES))
        for (let batch = 0; batch < WARM_UP_BATCHES; batch += 1) await deleteBatch(target, batch * KEYS)
        const started = performance.now()
        for (let batch = 0; batch < BATCHES; batch += 1) await deleteBatch(target, (WARM_UP_BATCHES + batch) * KEYS)
        const took = performance.now() - started
        bench.add({
          name: 'delete-objects',
          label: `Objects of 4 KiB deleted, ${KEYS} in a request, one request after the other`,
          value: (BATCHES * KEYS) / (took / 1000),
          unit: 'per second',
          note: `${BATCHES} requests of ${(took / BATCHES).toFixed(0)} ms each`,
        })
        await target.client.fill(target.bucket, 0, OBJECTS, randomBytes(SMALL_BYTES))
        const gets = getLoad(target.bucket, sampleOfObjects(OBJECTS, OBJECTS), SMALL_BYTES, 'time')
        const load = { ...gets, pauseMilliseconds: PAUSE_MILLISECONDS }
        await bench.warmUp(target, load, CONNECTIONS)
        const alone = await bench.runLoad(target, load, CONNECTIONS, seconds)
        // With versions every deletion writes a marker, so the same keys can be deleted again and again.
        await target.client.enableVersioning(target.bucket)
        const stop = new AbortController()
        const deleting = deleteUntil(target, stop.signal)
        const measured = bench.runLoad(target, load, CONNECTIONS, seconds).finally(() => stop.abort())
        const [beside, requests] = await Promise.all([measured, deleting])
        bench.add({
          name: 'get-beside-delete-objects-p99',
          label: '99 of 100 GETs of 4 KiB beside it take at most',
          value: beside.latency.p99,
          unit: 'ms',
          latency: beside.latency,
          note: `${alone.latency.p99.toFixed(2)} ms without; ${beside.requestsPerSecond.toFixed(0)} GETs a second; ${((requests * KEYS) / seconds).toFixed(0)} markers a second are written meanwhile`,
        })
      },
      ['s3.extensions=delete-objects'],
    ),
}

/** @throws when a key is refused, RefusedError when the request is */
async function deleteBatch({ client, bucket }: Target, from: number): Promise<void> {
  const keys = Array.from({ length: KEYS }, (_, index) => `<Object><Key>${objectKey(from + index)}</Key></Object>`)
  const body = Buffer.from(`<Delete><Quiet>true</Quiet>${keys.join('')}</Delete>`)
  const request = { method: 'POST', path: `/${bucket}`, query: [['delete', '']] } as const
  const answer = await client.send(request, body, { 'content-md5': hash('md5', body, 'base64') })
  if (answer.body.includes('<Error>')) throw new Error(`a key was refused: ${answer.body.slice(0, 300)}`)
}

/** Deletes keys that are not read, until the signal; returns how many requests it took. */
async function deleteUntil(target: Target, signal: AbortSignal): Promise<number> {
  let requests = 0
  for (; !signal.aborted; requests += 1) await deleteBatch(target, OBJECTS)
  return requests
}
