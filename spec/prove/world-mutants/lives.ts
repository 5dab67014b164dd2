/** A process of its own, of a copy of the program: lives through worlds until something does not hold in one. */
import type { Breakage } from '../disk/breakage.ts'
import { MUTANTS } from '../mutants/mutant-list.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { runWorld, STEPS, type WorldOptions } from '../world/world.ts'
import { ROOT } from '../world/world-host.ts'

/** What the process is asked to do, as JSON in its first argument. */
export interface Lives {
  readonly worlds: number
  /** Kinds of steps that they have. */
  readonly inhabitants: number
  /** See `WorldMutant`. */
  readonly breakage: string | undefined
}

/** One line of its output. */
export interface Life {
  readonly seed: number
  readonly finding?: string
}

function optionsOf({ wrap, beforeOpening }: Breakage): WorldOptions {
  return {
    wrap: (disk) => {
      beforeOpening?.(disk, new StorePaths(ROOT))
      return wrap?.(disk) ?? disk
    },
  }
}

const { worlds, inhabitants, breakage } = JSON.parse(process.argv[2] ?? '') as Lives
const broken = breakage === undefined ? undefined : MUTANTS.find(({ name }) => name === breakage)
if (breakage !== undefined && broken === undefined) throw new Error(`no mutant is called ${breakage}`)
broken?.install?.()
for (let seed = 1; seed <= worlds; seed += 1) {
  const { finding } = await runWorld({ seed, steps: STEPS, inhabitants }, broken === undefined ? {} : optionsOf(broken))
  const life: Life = { seed, ...(finding !== undefined && { finding }) }
  process.stdout.write(`${JSON.stringify(life)}\n`)
  if (finding !== undefined) break
}
