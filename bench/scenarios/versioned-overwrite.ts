import { randomBytes } from 'node:crypto'
import { indexRange, putLoad } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'
import { measureInTurns } from '../turns.ts'

const VERSIONED_BUCKET_SUFFIX = '-versioned'

export const versionedOverwrite: Scenario = {
  name: 'versioned-overwrite',
  title: 'PUT of 4 KiB over the same keys, with and without versions kept',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const { seconds, rounds, quick } = bench.settings
      const body = randomBytes(SMALL_BYTES)
      const objects = bucketObjects(quick)
      const versioned = { ...target, bucket: `${target.bucket}${VERSIONED_BUCKET_SUFFIX}` }
      await target.client.createBucket(versioned.bucket)
      await target.client.enableVersioning(versioned.bucket)
      for (const { client, bucket } of [target, versioned]) await client.fill(bucket, 0, objects, body)
      const side = (kind: string, words: string, of: typeof target) => ({
        figure: `overwrite-${kind}-c${USUAL_CONNECTIONS}`,
        label: `PUT 4 KiB over an object${words}, ${connectionsText(USUAL_CONNECTIONS)}`,
        target: of,
        load: putLoad(of.bucket, indexRange(0, objects), body, 'time'),
      })
      const ratio = await measureInTurns(
        bench,
        side('unversioned', '', target),
        side('versioned', ', which stays as a version', versioned),
        {
          connections: USUAL_CONNECTIONS,
          seconds: Math.ceil(seconds / 3),
          rounds,
          limits: ['sync-preallocated'],
        },
      )
      bench.add({
        name: 'versioned-overwrite-ratio',
        label: 'Time of a versioned overwrite over that of an unversioned one',
        value: 1 / ratio,
        unit: 'ratio',
      })
    }),
}
