import { attack } from './attack/attack.ts'
import { backupProof } from './backup/backup-proof.ts'
import { crowd } from './crowd/crowd.ts'
import { diskProof } from './disk/disk-proof.ts'
import { failAt } from './fail-at/fail-at.ts'
import { flips } from './flips/flips.ts'
import { forged } from './forged/forged.ts'
import { fuzzProof } from './fuzz/fuzz-proof.ts'
import { kill9 } from './kill9/kill9.ts'
import { mutantsProof } from './mutants/mutants-proof.ts'
import { smallWorld } from './small-world/small-world.ts'
import { soak } from './soak/soak.ts'
import { strace } from './strace/strace.ts'
import { twoWriters } from './two-writers/two-writers.ts'
import { worldProof } from './world/world-proof.ts'
import { worldMutants } from './world-mutants/world-mutants.ts'
import type { Proof } from './proof.ts'

/** Every proof, in the order in which their results are told. */
export const PROOFS: readonly Proof[] = [
  diskProof,
  flips,
  mutantsProof,
  failAt,
  smallWorld,
  worldProof,
  worldMutants,
  kill9,
  backupProof,
  strace,
  twoWriters,
  attack,
  forged,
  fuzzProof,
  crowd,
  soak,
]
