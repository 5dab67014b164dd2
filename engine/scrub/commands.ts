import type { ScrubDamage, ScrubProgress } from '../events/values.ts'

/** Commands of the scrub. */
export interface ScrubCommands {
  /** Starts a pass, unless one is running. */
  'begin-scrub': object
  /** Progress of the running pass, and its findings since the record before; at most 256 damages. */
  'record-scrub': { progress: ScrubProgress; damage: readonly ScrubDamage[] }
}
