import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { compressSegment } from '../../engine/journal/cold/compress-segment.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import type { Bench, Target } from '../bench.ts'
import { inParallel } from '../in-parallel.ts'
import { manage } from '../management.ts'
import { objectKey } from '../object-keys.ts'
import type { Scenario } from '../scenario.ts'
import { SMALL_BYTES } from '../sizes.ts'

const BUCKET = 'capacity'
const REQUESTS = 50_000
const REQUESTS_QUICK = 10_000
const CONNECTIONS = 32
/** Smallest segments, so that most of the journal is sealed and can be compressed. */
const SETTINGS = ['storage.segment_mib=1', 'storage.compress_segments=false'] as const

/**
 * Bytes that requests leave in the journal and in the projections; the source of every figure in
 * spec/manual/capacity.md.
 */
export const capacity: Scenario = {
  name: 'capacity',
  title: 'Bytes that requests and objects of 4 KiB leave behind',
  needs: 'own server',
  async run(bench) {
    const count = bench.settings.quick ? REQUESTS_QUICK : REQUESTS
    const dataDirectory = join(bench.directory, 'capacity')
    const body = randomBytes(SMALL_BYTES)
    /** First sequence of the next segment when a kind of request began. */
    const kinds: { readonly name: string; readonly from: number; to: number }[] = []
    try {
      await bench.withServerOn(
        dataDirectory,
        BUCKET,
        async (target) => {
          await target.client.createBucket(BUCKET)
          for (const method of ['PUT', 'GET', 'DELETE'] as const) {
            const before = await readingOf(target)
            await inParallel(count, CONNECTIONS, async (index) => {
              const request = { method, path: `/${BUCKET}/${objectKey(index)}` } as const
              await target.client.send(request, method === 'PUT' ? body : undefined)
            })
            const after = await readingOf(target)
            kinds.push({ name: method, from: before.head, to: after.head })
            add(
              bench,
              `capacity-journal-${method.toLowerCase()}`,
              `Journal, each ${method}`,
              after.written - before.written,
              count,
            )
            if (method === 'PUT') {
              add(bench, 'capacity-projections-object', 'Projections, each object', tableBytes(dataDirectory), count)
              add(
                bench,
                'capacity-payloads-object',
                'Volumes, each object of 4,096 bytes',
                after.physical - before.physical,
                count,
              )
            }
          }
        },
        SETTINGS,
      )
      for (const { name, from, to } of kinds) await addCold(bench, dataDirectory, name, from, to)
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true })
    }
  },
}

interface Reading {
  readonly written: number
  /** Of payloads, without the room ahead in the newest volumes. */
  readonly physical: number
  readonly head: number
}

async function readingOf(target: Target): Promise<Reading> {
  const { text } = await manage(target, 'GET', '/system/metrics')
  const valueOf = (name: string): number => {
    const sample = new RegExp(`"name":"${name}","labels":\\{\\},"value":([\\d.e+]+)`).exec(text)
    if (sample === null) throw new Error(`no ${name} in the metrics`)
    return Number(sample[1])
  }
  return {
    written: valueOf('object_store_journal_written_bytes_total'),
    physical: valueOf('object_store_storage_physical_bytes') - valueOf('object_store_storage_unused_volume_bytes'),
    head: valueOf('object_store_journal_head_sequence'),
  }
}

/** Bytes of the tables that are in use or were; LMDB gives none back. */
function tableBytes(dataDirectory: string): number {
  const { projections } = new StorePaths(dataDirectory)
  const files = readdirSync(projections).map((name) => statSync(join(projections, name)))
  return files.reduce((sum, { size }) => sum + size, 0)
}

/** Compresses the sealed segments that hold only one kind of request. */
async function addCold(bench: Bench, dataDirectory: string, name: string, from: number, to: number): Promise<void> {
  const paths = new StorePaths(dataDirectory)
  const firsts = segmentFirsts(nodeDisk, paths)
  let plain = 0
  let stored = 0
  for (const [index, first] of firsts.entries()) {
    const following = firsts[index + 1]
    if (following === undefined || first < from || following > to) continue
    plain += readFileSync(paths.segment(first)).length
    const job = { first, following, making: randomBytes(8).toString('hex'), level: 6 }
    for await (const _ of compressSegment(nodeDisk, paths, job));
    stored += statSync(paths.segment(first)).size
  }
  if (plain === 0) throw new Error(`no sealed segment holds only ${name}`)
  bench.add({
    name: `capacity-cold-${name.toLowerCase()}`,
    label: `Cold segment of ${name}s, of its plain bytes`,
    value: stored / plain,
    unit: 'ratio',
  })
}

function add(bench: Bench, name: string, label: string, bytes: number, count: number): void {
  bench.add({ name, label, value: bytes / count, unit: 'bytes', note: `${count.toLocaleString('en')} requests` })
}
