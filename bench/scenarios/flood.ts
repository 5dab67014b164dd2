import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { mountSmallDisk } from '../../spec/support/disks/small-disk.ts'
import type { Bench, Target } from '../bench.ts'
import { allocatedBytes } from '../directory-size.ts'
import { getLoad } from '../load.ts'
import { sampleOfObjects } from '../object-keys.ts'
import { processorSeconds } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

/** Of the stranger, who has one thread of wrk. */
const FLOOD_CONNECTIONS = 24
/** As long as a key may be: no record is longer. */
const KEY_CHARACTERS = 1024
const FLOOD_SECONDS = 60
const BUCKET = 'flooded'
const MEBIBYTE = 1024 ** 2
const DISK_MEBIBYTES = 300
const RESERVED_MEBIBYTES = 64
const FREE_MEBIBYTES = 100
const SMALL_STORE = [
  'storage.segment_mib=8',
  'storage.volume_mib=8',
  `storage.reserved_mib=${RESERVED_MEBIBYTES}`,
  'log.requests=none',
]
const WRITE_PAUSE_MILLISECONDS = 100

/** What a client without a credential can do to the journal, to a disk with little room, and to other clients. */
export const flood: Scenario = {
  name: 'flood',
  title: `A stranger at full speed, ${connectionsText(FLOOD_CONNECTIONS)}: refused requests beside signed ones`,
  needs: 'own server',
  run: async (bench) => {
    await fillSmallDisk(bench)
    await bench.withTarget((target) => compareRates(bench, target), ['log.requests=none'])
  },
}

/** Sends unsigned GETs as fast as they are refused; gives how many were. */
async function sendRefused(bench: Bench, target: Target, seconds: number): Promise<number> {
  const url = `${target.endpoint.url}/${target.bucket}/${'p'.repeat(KEY_CHARACTERS)}`
  const shape = ['-t', '1', '-c', String(FLOOD_CONNECTIONS), '-d', `${seconds}s`, url]
  const { stdout } = await bench.children.run('wrk', shape, { timeoutMilliseconds: (seconds + 30) * 1000 })
  const [, requests] = /(\d+) requests in/.exec(stdout) ?? []
  const [, refused] = /Non-2xx or 3xx responses: (\d+)/.exec(stdout) ?? []
  if (requests === undefined || requests !== refused) throw new Error(`not every request was refused: ${stdout}`)
  return Number(requests)
}

/** A store with little room on its disk, which signed writes must still find at work. */
async function fillSmallDisk(bench: Bench): Promise<void> {
  const seconds = bench.settings.quick ? bench.settings.seconds : FLOOD_SECONDS
  const disk = mountSmallDisk(DISK_MEBIBYTES)
  try {
    const dataDirectory = join(disk.directory, 'data')
    const work = async (target: Target) => {
      await target.client.createBucket(target.bucket)
      takeSpace(join(disk.directory, 'filler'), disk.directory)
      const journal = new StorePaths(dataDirectory).journal
      const before = allocatedBytes(journal)
      const [refused, writes] = await Promise.all([sendRefused(bench, target, seconds), writeOn(target, seconds)])
      const grown = (allocatedBytes(journal) - before) / MEBIBYTE
      bench.add({
        name: 'flood-journal-growth',
        label: `Journal, room written ahead included, while ${seconds} s of requests are refused`,
        value: grown / seconds,
        unit: 'MiB/s',
        note: `${refused} refused, ${grown.toFixed(1)} MiB; ${FREE_MEBIBYTES} MiB were free above the reserve at first, and all of ${writes} signed PUTs were answered 200`,
      })
    }
    await bench.withServerOn(dataDirectory, BUCKET, work, SMALL_STORE)
  } finally {
    disk.unmount()
  }
}

/** Leaves `FREE_MEBIBYTES` above the reserve. */
function takeSpace(path: string, directory: string): void {
  const { bavail, bsize } = statfsSync(directory)
  const bytes = bavail * bsize - (FREE_MEBIBYTES + RESERVED_MEBIBYTES) * MEBIBYTE
  const file = openSync(path, 'w')
  const piece = Buffer.alloc(MEBIBYTE, 1)
  for (let written = 0; written < bytes; written += piece.length) writeSync(file, piece)
  ftruncateSync(file, Math.max(0, bytes))
  closeSync(file)
}

/** Writes one small object after the other; gives how many. */
async function writeOn(target: Target, seconds: number): Promise<number> {
  const endsAt = performance.now() + seconds * 1000
  const body = randomBytes(SMALL_BYTES)
  let writes = 0
  for (; performance.now() < endsAt; writes += 1) {
    await target.client.send({ method: 'PUT', path: `/${target.bucket}/written` }, body)
    await sleep(WRITE_PAUSE_MILLISECONDS)
  }
  return writes
}

interface Rate {
  readonly perSecond: number
  /** For each second of processor time that the server had, refusals included. */
  readonly perProcessorSecond: number
}

async function compareRates(bench: Bench, target: Target): Promise<void> {
  const { quick, seconds, rounds } = bench.settings
  const objects = bucketObjects(quick)
  await target.client.fill(target.bucket, 0, objects, randomBytes(SMALL_BYTES))
  const load = getLoad(target.bucket, sampleOfObjects(objects, objects), SMALL_BYTES, 'time')
  await bench.warmUp(target, load, USUAL_CONNECTIONS)
  const rates: Record<'alone' | 'beside', Rate[]> = { alone: [], beside: [] }
  let refused = 0
  const turn = async (side: 'alone' | 'beside') => {
    const began = processorSeconds(target.pid ?? 0)
    const flooding = side === 'beside' ? sendRefused(bench, target, seconds + 1) : Promise.resolve(0)
    const { requestsPerSecond, answered } = await bench.runLoad(target, load, USUAL_CONNECTIONS, seconds)
    const processor = processorSeconds(target.pid ?? 0) - began
    rates[side].push({ perSecond: requestsPerSecond, perProcessorSecond: answered / processor })
    refused += await flooding
  }
  for (let round = 0; round < Math.min(2, rounds); round += 1) {
    for (const side of round % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const))
      await turn(side)
  }
  const mean = (side: 'alone' | 'beside', of: keyof Rate) =>
    rates[side].reduce((sum, rate) => sum + rate[of], 0) / rates[side].length
  for (const side of ['alone', 'beside'] as const) {
    bench.add({
      name: `flood-get-4-kib-${side}`,
      label: `GET 4 KiB, ${connectionsText(USUAL_CONNECTIONS)}, ${side === 'alone' ? 'alone' : 'beside the stranger'}`,
      value: mean(side, 'perSecond'),
      unit: 'per second',
      processorMicroseconds: 1_000_000 / mean(side, 'perProcessorSecond'),
      note: `the mean of ${rates[side].map(({ perSecond }) => perSecond.toFixed(0)).join(', ')}`,
    })
  }
  bench.add({
    name: 'flood-rate-ratio',
    label: 'Rate beside the stranger over that alone, all of them on the same processors',
    value: mean('beside', 'perSecond') / mean('alone', 'perSecond'),
    unit: 'ratio',
    note: `${refused} refused meanwhile`,
  })
  bench.add({
    name: 'flood-processor-ratio',
    label: 'The same for each second of processor time of the server, of which refusals take their part',
    value: mean('beside', 'perProcessorSecond') / mean('alone', 'perProcessorSecond'),
    unit: 'ratio',
  })
}
