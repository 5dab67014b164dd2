import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from '../engine/hashing/crc32.ts'
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
/**
 * Connections of the uploads that are compared with what they need at least: hashes of their bytes, and a disk that
 * takes them.
 */
const HELD_CONNECTIONS = 4
/** The bars are for a machine with this many. */
const PROCESSORS = 2
const HASHED_MEBIBYTES = 256
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
    const figure = `${name}-c${connections}`
    const label = `${method} ${mebibytes} MiB, ${connectionsText(connections)}`
    const measured = await bench.measure(target, {
      figure,
      label,
      load,
      connections,
      seconds: objectBytes >= LONG_BYTES ? Math.max(SECONDS_MINIMUM, Math.round(seconds * LONGER)) : seconds,
      objectBytes,
      limits: method === 'PUT' ? ['md5', 'sha256', 'disk-write'] : ['page-cache-read', 'crc32'],
    })
    if (method !== 'PUT' || objectBytes < LONG_BYTES || connections !== HELD_CONNECTIONS) continue
    const { answered, requestsPerSecond, processorSeconds } = measured
    addHeld(bench, {
      figure,
      label,
      mebibytes: answered * mebibytes,
      rate: requestsPerSecond * mebibytes,
      processorSeconds,
    })
  }
}

interface HeldUploads {
  readonly figure: string
  readonly label: string
  /** All that were sent. */
  readonly mebibytes: number
  /** MiB a second. */
  readonly rate: number
  readonly processorSeconds: number | undefined
}

/** Processor time of hashing a mebibyte as an upload is hashed, in seconds. Other work on the machine makes it no longer. */
function hashingSeconds(): number {
  const piece = randomBytes(MEBIBYTE)
  const before = process.cpuUsage()
  for (let count = 0; count < HASHED_MEBIBYTES; count++) {
    createHash('md5').update(piece).digest()
    createHash('sha256').update(piece).digest()
    crc32(piece)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000_000 / HASHED_MEBIBYTES
}

/** Compares uploads with what they need at least, measured just after them. */
function addHeld(bench: Bench, { figure, label, mebibytes, rate, processorSeconds }: HeldUploads): void {
  const hashSeconds = hashingSeconds()
  const possible = Math.min(bench.machineLimit('disk-write'), PROCESSORS / hashSeconds)
  bench.add({
    name: `${figure}-limit-ratio`,
    label: `${label}: rate by what is possible`,
    value: rate / possible,
    unit: 'ratio',
    note: `${possible.toFixed(0)} MiB/s is what the disk takes or ${PROCESSORS} processors can hash, whichever is lower`,
  })
  if (processorSeconds === undefined) return
  bench.add({
    name: `${figure}-hash-ratio`,
    label: `${label}: processor time by that of its hashes`,
    value: processorSeconds / (mebibytes * hashSeconds),
    unit: 'ratio',
  })
}
