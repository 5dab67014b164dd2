import type { ScrubProgress } from '../events/values.ts'

/** State of the scrub as the rules read it. Implemented by the projections. */
export interface ScrubState {
  /** How far the last pass is; undefined before the first. */
  scrubProgress(): ScrubProgress | undefined
}
