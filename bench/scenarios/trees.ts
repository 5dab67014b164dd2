import { hash, randomBytes, randomInt } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { HASH_BYTES } from '../../engine/journal/format.ts'
import { scanOneSegment } from '../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { treeRoot } from '../../engine/checkpoints/tree-shape.ts'
import { buildTrees } from '../../projections/checkpoints/build-trees.ts'
import { CheckpointLog } from '../../projections/checkpoints/checkpoint-log.ts'
import { TREE_PIECE_BYTES, TreeFiles, treesIn } from '../../projections/checkpoints/tree-files.ts'
import type { Bench, Target } from '../bench.ts'
import { getLoad, indexRange, putLoad } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'
import { measureInTurns } from '../turns.ts'

const RECORDS = 10_000_000
const RECORDS_QUICK = 1_000_000
const PROOFS = 2000
const WARM_UP_PROOFS = 200
/** Checkpoints that consistency is proved from; their roots are computed before. */
const OLD_SIZES = 50
const HASHES_COUNTED = 500_000
const TURN_SECONDS_MINIMUM = 3

/** Costs of checkpoints: proofs, a rebuild of the trees, and requests while the thread makes them. */
export const trees: Scenario = {
  name: 'trees',
  title: 'Trees of checkpoints: proofs, a rebuild from the journal, and what they cost PUTs and GETs',
  needs: 'own server',
  async run(bench) {
    hashRate(bench)
    proofs(bench, bench.settings.quick ? RECORDS_QUICK : RECORDS)
    await rebuild(bench)
    await bench.withTarget((off) =>
      bench.withTarget((on) => beside(bench, off, on), ['checkpoints.interval_seconds=10']),
    )
  },
}

function hashRate(bench: Bench): void {
  const node = randomBytes(1 + 2 * HASH_BYTES)
  const began = performance.now()
  for (let count = 0; count < HASHES_COUNTED; count += 1) hash('sha256', node, 'buffer')
  bench.add({
    name: 'trees-node-crypto',
    label: 'SHA-256 of two hashes by node:crypto, one at a time',
    value: (HASHES_COUNTED * 1000) / (performance.now() - began),
    unit: 'per second',
  })
}

/** Over made hashes, as the server proves: each proof is checked against the root before it is given. */
function proofs(bench: Bench, records: number): void {
  const paths = new StorePaths(join(bench.directory, 'made-trees'))
  mkdirSync(paths.projections, { recursive: true })
  const written = TreeFiles.openToWrite(nodeDisk, treesIn(paths.projections))
  const began = performance.now()
  while (written.size < records) {
    const hashes = Math.min(records - written.size, TREE_PIECE_BYTES / HASH_BYTES)
    written.append(randomBytes(hashes * HASH_BYTES))
  }
  const seconds = (performance.now() - began) / 1000
  const sizes = [records, ...Array.from({ length: OLD_SIZES }, () => 1 + randomInt(records - 1))]
  const known = new Map(sizes.map((size) => [size, checkpointOf(written, size)]))
  written.close()
  bench.add({
    name: 'trees-append',
    label: `Both trees over ${records.toLocaleString('en')} made hashes`,
    value: records / seconds,
    unit: 'per second',
  })
  const reader = {
    last: () => known.get(records),
    ofSize: (size: number) => known.get(size),
    after: () => [],
    receiptsOf: () => [],
    receiptsAfter: () => [],
    handovers: () => [],
    signing: () => ({ last: known.get(records), handover: undefined }),
  }
  const log = new CheckpointLog(nodeDisk, paths, reader, () => undefined)
  timed(bench, 'inclusion', () => log.inclusion(randomInt(records), undefined))
  timed(bench, 'consistency', (count) => log.consistency(sizes[1 + (count % OLD_SIZES)] as number, undefined))
}

function checkpointOf(files: TreeFiles, size: number): CheckpointState {
  const signed = {
    origin: 'bench',
    publicKey: Buffer.alloc(32),
    signature: Buffer.alloc(64),
    previous: Buffer.alloc(32),
  }
  const entry = { sequence: sequenceOf(size), timeMicroseconds: microsecondsOf(0) }
  const [root, bundleRoot] = [treeRoot(files.tree('log'), size), treeRoot(files.tree('bundle'), size)]
  return { ...signed, ...entry, size, root, bundleRoot }
}

function timed(bench: Bench, proof: string, make: (count: number) => unknown): void {
  for (let count = 0; count < WARM_UP_PROOFS; count += 1) make(count)
  const times = Array.from({ length: PROOFS }, (_, count) => {
    const began = performance.now()
    make(count)
    return performance.now() - began
  }).sort((left, right) => left - right)
  for (const percent of [50, 99]) {
    bench.add({
      name: `trees-${proof}-p${percent}`,
      label: `Proof of ${proof}, ${percent === 50 ? 'the median' : '99 of 100 within'}`,
      value: times[Math.floor((PROOFS * percent) / 100)] as number,
      unit: 'ms',
    })
  }
}

async function rebuild(bench: Bench): Promise<void> {
  await bench.filled.fillTo(bench.settings.objects)
  const paths = new StorePaths(bench.filled.directory)
  const last = segmentFirsts(nodeDisk, paths).at(-1)
  if (last === undefined) throw new Error('there is no journal')
  const { chain, end } = scanOneSegment(nodeDisk, paths, last, {})
  const directory = join(bench.directory, 'rebuilt-trees')
  mkdirSync(directory)
  const began = performance.now()
  buildTrees(nodeDisk, paths, directory, { segmentFirstSequence: last, offset: end.offset, head: chain.head })
  const seconds = (performance.now() - began) / 1000
  bench.add({
    name: 'trees-rebuild',
    label: 'Both trees from the journal, records read and verified',
    value: chain.nextSequence / seconds,
    unit: 'per second',
    note: `${chain.nextSequence.toLocaleString('en')} records in ${seconds.toFixed(1)} s, the sync at the end included`,
  })
}

async function beside(bench: Bench, off: Target, on: Target): Promise<void> {
  const { seconds, rounds, quick } = bench.settings
  const indexes = indexRange(0, bucketObjects(quick))
  const body = randomBytes(SMALL_BYTES)
  for (const { client, bucket } of [off, on]) await client.fill(bucket, 0, indexes.length, body)
  const loads = {
    put: putLoad(off.bucket, indexes, body, 'time'),
    get: getLoad(off.bucket, indexes, SMALL_BYTES, 'time'),
  }
  for (const [name, load] of Object.entries(loads)) {
    const what = `${name.toUpperCase()} 4 KiB`
    const side = (state: string, target: Target) => ({
      figure: `checkpoints-${state}-${name}-4-kib`,
      label: `${what}, ${USUAL_CONNECTIONS} connections, checkpoints ${state}`,
      target,
      load,
    })
    const value = await measureInTurns(bench, side('off', off), side('on', on), {
      connections: USUAL_CONNECTIONS,
      seconds: Math.max(TURN_SECONDS_MINIMUM, Math.ceil(seconds / 2)),
      rounds,
      limits: [name === 'put' ? 'sync-preallocated' : 'http'],
    })
    const label = `Rate of ${what} with a checkpoint every 10 s over that without`
    bench.add({ name: `checkpoints-${name}-4-kib-ratio`, label, value, unit: 'ratio' })
  }
}
