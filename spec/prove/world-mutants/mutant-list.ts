import { OF_THE_DISK } from './disk-mutants.ts'
import { FINDINGS } from './finding-mutants.ts'
import { INVENTED } from './invented-mutants.ts'
import type { WorldMutant } from './mutant.ts'

/** All of them, in the order of the table in `spec/design/world.md`. */
export const WORLD_MUTANTS: readonly WorldMutant[] = [...INVENTED, ...FINDINGS, ...OF_THE_DISK]
