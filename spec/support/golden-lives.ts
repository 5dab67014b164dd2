/** The life behind each golden journal. */
import { liveVersionsHistory } from './golden-versions.ts'
import { liveGoldenHistory } from './golden-history.ts'
import type { GoldenLife } from './golden-maker.ts'

export const GOLDEN_LIVES: Readonly<Record<string, GoldenLife<object>>> = {
  /** The vocabulary of the first version: change kinds 1 to 7. */
  'journal-v1': { volumeBytes: 64 * 1024, live: liveGoldenHistory },
  /** Every kind of change up to 33, and every form of their fields. */
  'journal-v2': { volumeBytes: 4096, live: liveVersionsHistory },
}
