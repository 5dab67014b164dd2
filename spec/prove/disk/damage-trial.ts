/** Whether damage to the medium is named (promises 3 and 4 of the README). */
import { basename } from 'node:path'
import { segmentFirstSequence } from '../../../engine/disk/store-paths.ts'
import { COLD_MAGIC } from '../../../engine/journal/cold/cold-format.ts'
import type { TestStore } from '../../support/test-store.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { type Damage, type DamagedPlace, damageSomething } from './damage.ts'
import type { Finding } from '../../support/dying-servers/client-findings.ts'
import { verifyImage } from './journal-image.ts'
import { openIn, type World } from './life.ts'

/** How a store may say that it met damage. */
const NAMED = new Set(['JournalDamagedError', 'AcknowledgedDataLostError', 'PayloadDamagedError'])

function isNamed(error: unknown): boolean {
  return error instanceof Error && (NAMED.has(error.name) || (error as NodeJS.ErrnoException).code === 'EIO')
}

/**
 * Damages the stopped store of a world, looks at it with the verifier, and opens it once more.
 * @param lostPower then the projections cannot tell a damaged end of the journal, for which there is no mark yet, from
 *   one that was never written: the store may cut it off, if it says so
 */
export async function tryDamage(world: World, life: number, lostPower: boolean): Promise<Finding[]> {
  const { host, random, tally } = world
  const ends = dataEnds(world)
  const damage = damageSomething(host.disk, host.paths, random)
  if (damage === undefined) return []
  tally.damages += 1
  const hit = damage.places.filter(({ path, position }) => position < (ends.get(path) ?? 0))
  const found = await verifierFindings(world, hit)
  const opened = await openDamaged(world, life, { lostPower, isHit: hit.length > 0 })
  if (hit.length > 0 || opened.named) tally.damagesNamed += 1
  return [...found, ...opened.found].map(({ kind, text }) => ({ kind, text: `${told(damage)}: ${text}` }))
}

function told({ kind, places }: Damage): string {
  return `${kind} at ${places.map(({ path, position }) => `${basename(path)}:${position}`).join(' and ')}`
}

/** Where the data of each segment ends: behind it are zeros that nobody reads. */
function dataEnds({ host }: World): Map<string, number> {
  const { paths, disk } = host
  const ends = new Map<string, number>()
  for (const name of disk.list(paths.journal)) {
    const first = segmentFirstSequence(name)
    if (first === undefined) continue
    const bytes = disk.file(paths.segment(first))?.bytes() ?? Buffer.alloc(0)
    const end = isCold(disk, paths.segment(first)) ? bytes.length : bytes.findLastIndex((byte) => byte !== 0) + 1
    ends.set(paths.segment(first), end)
  }
  return ends
}

/** As it was before the damage. */
function isCold(disk: SimulatedDisk, path: string): boolean {
  return disk.file(path)?.bytes().subarray(0, COLD_MAGIC.length).equals(COLD_MAGIC) === true
}

/**
 * The verifier names the first segment that was hit, at or before the place. What it takes for a torn tail it names as
 * that: without a mark behind it, it cannot know better, and the store, which has its projections, must refuse it.
 */
async function verifierFindings({ host }: World, hit: readonly DamagedPlace[]): Promise<Finding[]> {
  const report = await verifyImage(host.disk, host.paths)
  const first = hit.toSorted((left, right) => (left.path < right.path ? -1 : left.position - right.position))[0]
  if (first === undefined) return []
  const segment = basename(first.path)
  // The place in a cold segment is that of compressed bytes.
  const latest = isCold(host.disk, first.path) ? Number.POSITIVE_INFINITY : first.position
  const isFound = report?.problems.some((problem) => problem.segment === segment && problem.offset <= latest)
  const isTail = (report?.openSegmentTornTail?.offset ?? Number.POSITIVE_INFINITY) <= first.position
  if (isFound === true || isTail) return []
  const named = report?.problems.map((problem) => `${problem.segment}:${problem.offset}`)
  return [{ kind: 'wrong', text: `the verifier does not name it, but: ${named?.join()}` }]
}

async function openDamaged(
  world: World,
  life: number,
  { lostPower, isHit }: { readonly lostPower: boolean; readonly isHit: boolean },
): Promise<{ readonly named: boolean; readonly found: readonly Finding[] }> {
  let store: TestStore
  try {
    store = await openIn(world, life)
  } catch (error) {
    world.intervals.clear()
    if (isNamed(error)) return { named: true, found: [] }
    return { named: false, found: [{ kind: 'wrong', text: `it does not open and does not say why: ${String(error)}` }] }
  }
  const unreadable: unknown[] = []
  const found: Finding[] = []
  try {
    const differing = await world.clients.check(store, (error) => unreadable.push(error), false)
    for (const text of differing) found.push({ kind: 'lost', text })
  } catch (error) {
    if (!isNamed(error)) found.push({ kind: 'wrong', text: String(error) })
    else unreadable.push(error)
  }
  for (const error of unreadable) {
    if (!isNamed(error)) found.push({ kind: 'wrong', text: `reading ends without a name: ${String(error)}` })
  }
  const isCut = store.report.cut !== undefined
  // Damage to the zeros behind the data is cut off as well, and nothing is lost by it.
  if (isCut && isHit && !lostPower) found.push({ kind: 'lost', text: 'the end of the journal was cut off' })
  await store.kill()
  world.intervals.clear()
  return { named: unreadable.length > 0 || isCut, found: isCut && lostPower ? [] : found }
}
