import { randomBytes } from 'node:crypto'
import type { Bench, Target } from './bench.ts'
import { getLoad, indexRange, type Load, putLoad } from './load.ts'
import type { Scenario } from './scenario.ts'
import { connectionsText } from './sizes.ts'

const MEBIBYTE = 1024 ** 2
const CONNECTIONS = [1, 4, 8] as const
/** Only a few of the largest objects are finished in a second, so they are measured for longer. */
const SECONDS_MINIMUM = 5
const LONGER = 1.5
const LONG_BYTES = 16 * MEBIBYTE
/** All the objects of a bucket together, which also bounds the memory of the load generator. */
const BUCKET_BYTES = 256 * MEBIBYTE
const BUCKET_OBJECTS_MAXIMUM = 64

/** PUT and GET of objects of one size, large enough that bytes matter and not requests. */
export function largeObjectScenario(method: 'PUT' | 'GET', mebibytes: number): Scenario {
  const name = `${method.toLowerCase()}-${mebibytes}-mib`
  const bytes = mebibytes * MEBIBYTE
  const indexes = indexRange(0, Math.min(BUCKET_OBJECTS_MAXIMUM, BUCKET_BYTES / bytes))
  return {
    name,
    title: `${method} of ${mebibytes} MiB${method === 'PUT' ? ', each one durable' : ''}`,
    needs: 'endpoint',
    run: (bench) =>
      bench.withTarget(async (target) => {
        const body = randomBytes(bytes)
        if (method === 'GET') await target.client.fill(target.bucket, 0, indexes.length, body)
        const load =
          method === 'PUT'
            ? putLoad(target.bucket, indexes, body, 'count')
            : getLoad(target.bucket, indexes, bytes, 'count')
        await measureLarge(bench, target, { name, method, mebibytes, load })
      }),
  }
}

interface LargeLoad {
  readonly name: string
  readonly method: 'PUT' | 'GET'
  readonly mebibytes: number
  readonly load: Load
}

async function measureLarge(bench: Bench, target: Target, { name, method, mebibytes, load }: LargeLoad): Promise<void> {
  const objectBytes = mebibytes * MEBIBYTE
  const { seconds } = bench.settings
  await bench.warmUp(target, load, CONNECTIONS[0])
  for (const connections of CONNECTIONS) {
    await bench.measure(target, {
      figure: `${name}-c${connections}`,
      label: `${method} ${mebibytes} MiB, ${connectionsText(connections)}`,
      load,
      connections,
      seconds: objectBytes >= LONG_BYTES ? Math.max(SECONDS_MINIMUM, Math.round(seconds * LONGER)) : seconds,
      objectBytes,
      limits: method === 'PUT' ? ['md5', 'sha256', 'disk-write'] : ['page-cache-read', 'crc32'],
    })
  }
}
