import type { ScrubProgress } from '../events/values.ts'
import { NOTHING_CHANGES, type RulesOf } from '../domain/decision.ts'
import type { ScrubChange } from './change-types.ts'
import type { ScrubCommands } from './commands.ts'
import type { ScrubState } from './state.ts'

const FIRST_STEP = { stage: 'payloads', place: 0, payloads: 0, segments: 0, bytes: 0, damaged: 0 } as const

/** Whether a pass is running. */
export function isScrubbing(progress: ScrubProgress | undefined): progress is ScrubProgress {
  return progress !== undefined && progress.stage !== 'over'
}

export const scrubRules: RulesOf<ScrubCommands, ScrubChange, { readonly scrub: ScrubState }> = {
  /** Starts a pass. Does nothing while one is running. */
  'begin-scrub'(_command, { scrub, host }) {
    if (isScrubbing(scrub.scrubProgress())) return NOTHING_CHANGES
    const progress = { ...FIRST_STEP, startedMicroseconds: host }
    return { changes: [{ name: 'scrub.advanced', progress, damage: [] }] }
  },

  /** Records the progress and findings of the running pass. Does nothing for another pass. */
  'record-scrub'({ progress, damage }, { scrub }) {
    const present = scrub.scrubProgress()
    if (!isScrubbing(present) || present.startedMicroseconds !== progress.startedMicroseconds) return NOTHING_CHANGES
    return { changes: [{ name: 'scrub.advanced', progress, damage }] }
  },
}
