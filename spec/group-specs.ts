/** Which specs run one after the other in a process. The names of files lead to it: nothing lists them all. */
import { readFileSync } from 'node:fs'

/** A process costs a second before its first case; the last group must not run alone for long. */
const GROUP_MAXIMUM = 30
/** Of what takes long, so that none of its processes runs alone at the end. */
const LONG_GROUP_MAXIMUM = 5
const LONG: ReadonlySet<string> = new Set(['console', 'prove'])
/** Folders with fewer share a process with each other. */
const GROUP_MINIMUM = 8
/** Folders that are split once more, since what is in their folders has little in common. */
const SPLIT: ReadonlySet<string> = new Set(['planes'])
/** The name of what is in small folders. */
const OTHERS = 'others'
/** Settings of the root test, which would hold for all that run after it. */
const OF_THE_ROOT_TEST = /\btap\.(?!teardown\b)\w/

/** Specs that run after each other in one process, named by what they have in common. */
export interface SpecGroup {
  readonly name: string
  readonly specs: readonly string[]
}

/** Whether a spec is to have a process of its own. @param source its text */
export function setsRootTest(source: string): boolean {
  return OF_THE_ROOT_TEST.test(source)
}

function folderOf(name: string): string {
  const [folder = '', second = ''] = name.split('/')
  return SPLIT.has(folder) && !second.endsWith('.spec.js') ? `${folder}/${second}` : folder
}

/**
 * Groups of what has the same folder, of about the same size, the largest first and single specs last, so that these fill what
 * is left at the end. Neighbours by name tend to take equally long, so they are dealt out in turn.
 * @param names paths of specs below build/spec
 * @param alone which of them get a process of their own
 */
export function groupsOf(names: readonly string[], alone: (name: string) => boolean): SpecGroup[] {
  const together = names.filter((name) => !alone(name))
  const counts = countBy(together.map(folderOf))
  const folders = new Map<string, string[]>()
  for (const name of together) {
    const folder = (counts.get(folderOf(name)) ?? 0) < GROUP_MINIMUM ? OTHERS : folderOf(name)
    folders.set(folder, [...(folders.get(folder) ?? []), name])
  }
  const groups = [...folders].flatMap(([folder, all]) => {
    const count = Math.ceil(all.length / (LONG.has(folder) ? LONG_GROUP_MAXIMUM : GROUP_MAXIMUM))
    const parts = Array.from({ length: count }, (_, part) => all.filter((_name, index) => index % count === part))
    return parts.map((specs, part) => ({ name: nameOf(folder, specs, part, count), specs }))
  })
  const single = names.filter((name) => alone(name)).map((name) => ({ name, specs: [name] }))
  return [...groups.toSorted((one, other) => other.specs.length - one.specs.length), ...single]
}

function countBy(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

function nameOf(folder: string, specs: readonly string[], part: number, count: number): string {
  const [only] = specs
  return specs.length === 1 && only !== undefined ? only : `${folder}, ${part + 1} of ${count}`
}

/** The text of a spec, for `setsRootTest`. */
export function sourceOf(name: string): string {
  return readFileSync(`spec/${name.replace(/\.js$/, '.ts')}`, 'utf8')
}
