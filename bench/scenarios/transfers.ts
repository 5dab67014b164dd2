import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Bench, Target } from '../bench.ts'
import { memoryUsage } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'

const EACH_WAY = 10
const MEBIBYTE = 1024 ** 2
const PIECE_BYTES = 256 * 1024
const TIMEOUT_MILLISECONDS = 600_000

export const transfers: Scenario = {
  name: 'transfers',
  title: 'Ten large uploads and ten large downloads at once: what the server holds in memory',
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const bytes = bench.settings.transferBytes
      const piece = randomBytes(PIECE_BYTES)
      const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS)
      // Every transfer listens to it, in more than one place.
      setMaxListeners(0, signal)
      const source = `/${target.bucket}/source`
      await target.client.upload(source, piece, bytes, signal)
      const seconds = await allAtOnce(target, source, piece, bytes, signal)
      addFigures(bench, target, bytes, seconds)
    }),
}

interface Durations {
  readonly uploads: number
  readonly downloads: number
}

async function allAtOnce(
  target: Target,
  source: string,
  piece: Buffer,
  bytes: number,
  signal: AbortSignal,
): Promise<Durations> {
  const started = performance.now()
  const timed = async (work: (index: number) => Promise<void>) => {
    await Promise.all(Array.from({ length: EACH_WAY }, (_, index) => work(index)))
    return (performance.now() - started) / 1000
  }
  const [uploads, downloads] = await Promise.all([
    timed((index) => target.client.upload(`/${target.bucket}/copy-${index}`, piece, bytes, signal)),
    timed(async () => {
      const received = await target.client.download(source, signal)
      if (received !== bytes) throw new Error(`a download had ${received} bytes and not ${bytes}`)
    }),
  ])
  return { uploads, downloads }
}

function addFigures(bench: Bench, target: Target, bytes: number, seconds: Durations): void {
  const mebibytes = (bytes * EACH_WAY) / MEBIBYTE
  const size = `${EACH_WAY} x ${bytes / MEBIBYTE} MiB`
  const note = 'the client is one Node process and shares the machine'
  if (target.pid !== undefined) {
    const { peak, anonymous, file } = memoryUsage(target.pid)
    bench.add({
      name: 'transfers-peak-memory',
      label: `Largest resident set of the server during ${size} up and down at once`,
      value: peak,
      unit: 'MiB',
      note: `at the end: ${anonymous.toFixed(0)} MiB anonymous, ${file.toFixed(0)} MiB of mapped files`,
    })
  }
  bench.add({
    name: 'transfers-uploads',
    label: `Uploads of ${size}, beside as many downloads`,
    value: mebibytes / seconds.uploads,
    unit: 'MiB/s',
    limits: ['md5', 'sha256', 'disk-write'],
    note,
  })
  bench.add({
    name: 'transfers-downloads',
    label: `Downloads of ${size}, beside as many uploads`,
    value: mebibytes / seconds.downloads,
    unit: 'MiB/s',
    limits: ['page-cache-read', 'crc32'],
    note,
  })
}
