import type { Proof } from './proof.ts'

/** Every proof, in the order in which `.ci/run` tries them. */
export const PROOFS: readonly Proof[] = []
