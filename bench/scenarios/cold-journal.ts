import { randomBytes } from 'node:crypto'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { compressSegment } from '../../engine/journal/cold/compress-segment.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { readLinkedSegments } from '../../engine/journal/recovery/linked-segments.ts'
import type { Scenario } from '../scenario.ts'
import { numberIn, runStoreCommand } from '../store-command.ts'

/** The first segment is full, and so sealed, after some 120,000. */
const OBJECTS_MINIMUM = 300_000
/** As the worker of a server compresses. */
const LEVEL = 6

export const coldJournal: Scenario = {
  name: 'cold-journal',
  title: 'The same two commands when every sealed segment of that journal is compressed',
  needs: 'own server',
  async run(bench) {
    await bench.filled.fillTo(Math.max(bench.settings.objects, OBJECTS_MINIMUM))
    const compressed = await compressAll(bench.filled.directory)
    const told = (records: number, seconds: number) =>
      `${records.toLocaleString('en')} records in ${seconds.toFixed(1)} s, ${compressed} segments compressed`
    const { report, outcome } = await runStoreCommand(bench, ['journal', 'verify'])
    if (report['intact'] !== true) throw new Error('the journal is not intact')
    const verified = numberIn(report, 'records')
    bench.add({
      name: 'journal-verify-cold',
      label: 'Records verified, compressed segments',
      value: verified / outcome.seconds,
      unit: 'per second',
      note: told(verified, outcome.seconds),
    })
    const rebuilt = await runStoreCommand(bench, ['projections', 'rebuild'])
    const records = numberIn(rebuilt.report, 'records')
    const seconds = numberIn(rebuilt.report, 'seconds')
    bench.add({
      name: 'replay-cold',
      label: 'Records replayed, compressed segments',
      value: records / seconds,
      unit: 'per second',
      note: told(records, seconds),
    })
  },
}

/** Compresses every sealed segment that is not; returns how many are. */
async function compressAll(directory: string): Promise<number> {
  const paths = new StorePaths(directory)
  const firsts = segmentFirsts(nodeDisk, paths)
  const cold = new Set(
    readLinkedSegments(nodeDisk, paths, undefined).segments.flatMap(({ isCold, path }) => (isCold ? [path] : [])),
  )
  for (const [index, first] of firsts.entries()) {
    const following = firsts[index + 1]
    if (following === undefined || cold.has(paths.segment(first))) continue
    const job = { first, following, making: randomBytes(8).toString('hex'), level: LEVEL }
    for await (const _ of compressSegment(nodeDisk, paths, job));
    cold.add(paths.segment(first))
  }
  if (cold.size === 0) throw new Error('no segment of the journal is sealed')
  return cold.size
}
