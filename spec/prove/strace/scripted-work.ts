/** The work that faults are injected into: the same requests each time, so that the n-th call is the same call. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { WireClient } from '../../support/wire-client.ts'
import type { Ledger, Outcome } from './ledger.ts'

export interface Script {
  readonly name: 'objects' | 'rotation' | 'start'
  /** Whether faults come while the server starts, before any request. */
  readonly inStart: boolean
  /** What is done before the faults. */
  prepare(wire: WireClient, ledger: Ledger, paths: StorePaths): Promise<void>
  /** Stops when the server is failing or gone. Gives how the last request ended. */
  work(wire: WireClient, ledger: Ledger): Promise<Outcome>
}

const SMALL = 3000
/** More than travels with a command: a file of its own. */
const LARGE = 100_000
const MEBIBYTE = 1024 ** 2
/** Five of them are more than what is left of a volume, and their records more than what is left of a segment. */
const FILLING = 60_000
const FILLINGS = 5
const VOLUME_BYTES_FILLED = MEBIBYTE - 3 * FILLING
/** A segment is sealed when it has no room for a batch of a quarter of it. */
const SEGMENT_BYTES_FILLED = 0.75 * MEBIBYTE - 10_000
/** More than the record of a small object with long metadata takes. */
const RECORD_BYTES = 4000
const FILLERS_MAXIMUM = 40

async function inOrder(requests: readonly (() => Promise<Outcome>)[]): Promise<Outcome> {
  let last: Outcome = 'done'
  for (const request of requests) {
    last = await request()
    if (last === 'failing' || last === 'cut off') break
  }
  return last
}

export const SCRIPTS: readonly Script[] = [
  {
    name: 'objects',
    inStart: false,
    // The first payload file of this start, by which the names of the next are known.
    prepare: async (wire, ledger) => {
      await ledger.put(wire, 'large', LARGE)
    },
    work: (wire, ledger) =>
      inOrder([
        () => ledger.put(wire, 'small', SMALL),
        () => ledger.put(wire, 'large', LARGE),
        () => ledger.upload(wire, 'multipart', LARGE),
        () => ledger.upload(wire, 'multipart-small', SMALL),
        () => ledger.put(wire, 'small', SMALL),
        () => ledger.remove(wire, 'small'),
        () => ledger.remove(wire, 'large'),
        () => ledger.put(wire, 'last', SMALL),
      ]),
  },
  {
    name: 'rotation',
    inStart: false,
    prepare: async (wire, ledger, paths) => {
      await fillVolume(wire, ledger, paths)
      await fillSegment(wire, ledger, paths)
    },
    work: (wire, ledger) =>
      inOrder(
        Array.from({ length: FILLINGS }, (_, index) => () => {
          return ledger.put(wire, `filling-${index}`, FILLING, { long: true })
        }),
      ),
  },
  {
    name: 'start',
    inStart: true,
    prepare: async (wire, ledger) => {
      await ledger.put(wire, 'before-start', SMALL)
    },
    work: (wire, ledger) => inOrder([() => ledger.put(wire, 'small', SMALL)]),
  },
]

/** Writes objects until the volume is nearly full. */
async function fillVolume(wire: WireClient, ledger: Ledger, paths: StorePaths): Promise<void> {
  while (filledBytes(paths.volumes, '.volume') < VOLUME_BYTES_FILLED) {
    if ((await ledger.put(wire, 'filler-volume', FILLING)) !== 'done') throw new Error('the volume cannot be filled')
  }
}

/** Writes objects until the segment is nearly full. */
async function fillSegment(wire: WireClient, ledger: Ledger, paths: StorePaths): Promise<void> {
  for (;;) {
    const missing = SEGMENT_BYTES_FILLED - filledBytes(paths.journal, '.segment')
    if (missing <= 0) return
    const numbers = Array.from({ length: Math.min(FILLERS_MAXIMUM, Math.ceil(missing / RECORD_BYTES)) }, (_, at) => at)
    const fill = (number: number) => ledger.put(wire, `filler-${number}`, 1, { long: true })
    const outcomes = await Promise.all(numbers.map(fill))
    if (outcomes.some((outcome) => outcome !== 'done')) throw new Error('the segment cannot be filled')
  }
}

/** Bytes of the newest file before the zeros that it is written ahead with. */
function filledBytes(directory: string, extension: string): number {
  const files = readdirSync(directory).filter((name) => name.endsWith(extension))
  const newest = files.toSorted().at(-1)
  if (newest === undefined) return 0
  return readFileSync(join(directory, newest)).findLastIndex((byte) => byte !== 0) + 1
}
