/** The same loads on two servers in turns. */
import { randomBytes } from 'node:crypto'
import type { Bench, Target } from './bench.ts'
import type { LimitName } from './figure.ts'
import { getLoad, indexRange, type Load, putLoad } from './load.ts'
import { bucketObjects, connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from './sizes.ts'
import { measureInTurns } from './turns.ts'

const LARGE_MEBIBYTES = 64
const LARGE_BYTES = LARGE_MEBIBYTES * 1024 ** 2
const LARGE_OBJECTS = 4
/** Fewer than elsewhere, so that a short turn has some answers of each connection. */
const LARGE_CONNECTIONS = 4
/** Of a turn: PUTs are so much slower that few of them are answered in less. */
const LARGE_SECONDS_MINIMUM = { PUT: 5, GET: 3 } as const
const ROUNDS_MAXIMUM = 3

/** Loads, first with small objects and then with large ones. GETs read the objects of the PUTs. */
const SIZES = [
  { size: '4-kib', words: '4 KiB', bytes: SMALL_BYTES, connections: USUAL_CONNECTIONS, rateBy: 'time' },
  { size: '64-mib', words: '64 MiB', bytes: LARGE_BYTES, connections: LARGE_CONNECTIONS, rateBy: 'count' },
] as const
type Size = (typeof SIZES)[number]
type Method = 'PUT' | 'GET'

const LIMITS: Readonly<Record<`${Method} ${Size['size']}`, readonly LimitName[]>> = {
  'PUT 4-kib': ['sync-preallocated'],
  'GET 4-kib': ['http'],
  'PUT 64-mib': ['md5', 'sha256', 'disk-write'],
  'GET 64-mib': ['page-cache-read', 'crc32'],
}

/** Two servers of our own that differ in one setting. */
interface Comparison {
  /** Prefix of the names of the figures. */
  readonly scenario: string
  /** What each of the two is called. */
  readonly states: readonly [string, string]
  /** Denominator of a ratio, after "Rate of PUT 4 KiB". */
  readonly over: string
}

/** Measures PUT and GET of small and of large objects on both, in turns. */
export async function compareServers(
  bench: Bench,
  comparison: Comparison,
  first: Target,
  second: Target,
): Promise<void> {
  for (const size of SIZES) await compareSize(bench, comparison, first, second, size)
}

async function compareSize(
  bench: Bench,
  { scenario, states, over }: Comparison,
  first: Target,
  second: Target,
  size: Size,
): Promise<void> {
  const { seconds, rounds, quick } = bench.settings
  const isSmall = size.bytes === SMALL_BYTES
  const indexes = indexRange(0, isSmall ? bucketObjects(quick) : LARGE_OBJECTS)
  const body = randomBytes(size.bytes)
  for (const { client, bucket } of [first, second]) await client.fill(bucket, 0, indexes.length, body)
  const loads: Readonly<Record<Method, Load>> = {
    PUT: putLoad(first.bucket, indexes, body, size.rateBy),
    GET: getLoad(first.bucket, indexes, size.bytes, size.rateBy),
  }
  for (const method of ['PUT', 'GET'] as const) {
    const name = `${method.toLowerCase()}-${size.size}`
    const side = (state: string, target: Target) => ({
      figure: `${scenario}-${state}-${name}`,
      label: `${method} ${size.words}, ${connectionsText(size.connections)}, ${scenario} ${state}`,
      target,
      load: loads[method],
    })
    const ratio = await measureInTurns(bench, side(states[0], first), side(states[1], second), {
      connections: size.connections,
      seconds: isSmall ? Math.ceil(seconds / 2) : Math.max(LARGE_SECONDS_MINIMUM[method], Math.ceil(seconds / 2)),
      rounds: Math.min(ROUNDS_MAXIMUM, rounds),
      ...(isSmall ? {} : { objectBytes: size.bytes }),
      limits: LIMITS[`${method} ${size.size}`],
    })
    bench.add({
      name: `${scenario}-${name}-ratio`,
      label: `Rate of ${method} ${size.words} ${over}`,
      value: ratio,
      unit: 'ratio',
    })
  }
}
