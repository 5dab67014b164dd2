/** The disks that a power cut may leave: all of them where they can be counted. */
import { createHash } from 'node:crypto'
import type { Random } from '../../support/random.ts'
import { byChance, type CrashChoice, type CrashDecision } from '../simulated-disk/crash-choices.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'

/** More than so many are not all tried. */
const OUTCOMES_MAXIMUM = 256
/** How many things of one that is tried all the same may be other than: nothing landed; everything landed. */
const DEVIATIONS_MAXIMUM = 2
const SAMPLES = 64
/** What a start removes unread: whether it is there, and what is in it, makes no difference. */
const UNREAD = /\/(?:spare|rewrite|[^/]*\.making|projections-opening)$|\/payloads\/tmp\/./

export interface Outcomes {
  /** Each of another content, as far as a start looks at it. */
  readonly disks: readonly SimulatedDisk[]
  /** There were too many for all of them to be tried. */
  readonly sampled: boolean
}

export function outcomesOf(crashing: SimulatedDisk, random: Random): Outcomes {
  const disk = withoutUnread(crashing)
  const distinct = new Map<string, SimulatedDisk>()
  const take = (outcome: SimulatedDisk) => void distinct.set(digestOf(outcome), outcome)
  try {
    for (const outcome of disk.everyCrash(OUTCOMES_MAXIMUM)) take(outcome)
    return { disks: [...distinct.values()], sampled: false }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  for (const base of [nothing, everything]) for (const decide of near(disk, base)) take(disk.crash(decide))
  for (let count = 0; count < SAMPLES; count += 1) take(disk.crash(byChance(random)))
  return { disks: [...distinct.values()], sampled: true }
}

/** The same, but that nothing has to be decided about the content of files that nobody reads again. */
function withoutUnread(crashing: SimulatedDisk): SimulatedDisk {
  const disk = crashing.clone()
  for (const path of disk.contents().keys()) if (UNREAD.test(path)) disk.file(path)?.sync()
  return disk
}

const nothing: CrashDecision = () => 0
/** Of a sector, what was written first: the last outcome may be what lay there before. */
const everything: CrashDecision = ({ what, options }) => (what === 'length' ? options - 1 : 1)

/** Every way to decide as `base` does but for a few choices. */
function* near(
  disk: SimulatedDisk,
  base: CrashDecision,
  others: ReadonlyMap<number, number> = new Map(),
): Generator<CrashDecision> {
  yield deciding(base, others)
  if (others.size === DEVIATIONS_MAXIMUM) return
  const choices = choicesOf(disk, deciding(base, others))
  const first = Math.max(-1, ...others.keys()) + 1
  for (let index = first; index < choices.length; index += 1) {
    const choice = choices[index] as CrashChoice
    for (let option = 0; option < choice.options; option += 1) {
      if (option !== base(choice)) yield* near(disk, base, new Map([...others, [index, option]]))
    }
  }
}

/** Decides as `base`, but for the choices that are known by when they are asked for. */
function deciding(base: CrashDecision, others: ReadonlyMap<number, number>): CrashDecision {
  let index = -1
  return (choice) => {
    index += 1
    return others.get(index) ?? base(choice)
  }
}

function choicesOf(disk: SimulatedDisk, decide: CrashDecision): CrashChoice[] {
  const choices: CrashChoice[] = []
  disk.crash((choice) => {
    choices.push(choice)
    return decide(choice)
  })
  return choices
}

function digestOf(disk: SimulatedDisk): string {
  const digest = createHash('sha256')
  for (const [path, bytes] of disk.contents()) {
    if (!UNREAD.test(path)) digest.update(`${path} ${bytes.length}\n`).update(bytes)
  }
  return digest.digest('base64')
}
