/**
 * Everything that requests share and that can run out: places, turns, bytes of memory. Each has an owner for every unit in
 * use (an account, or an address for a stranger) and is handed out by `Shares`, so one greedy owner cannot keep the others
 * from theirs. Each thread has its own of each, unless the row says otherwise.
 */
export interface ShareRow {
  /** What it is, for operators. */
  readonly sentence: string
  readonly unit: 'places' | 'bytes'
  /** Units in use at the same time. */
  readonly capacity: number
  /** Units that one owner may have in use; all of them by default. */
  readonly ownerMaximum?: number
  /** Requests that may wait for units; 0 by default, which refuses at once. */
  readonly waitingMaximum?: number
  /** How long one may wait; without an end by default. */
  readonly waitMillisecondsMaximum?: number
}

export const shareTable = {
  'copy-turns': {
    sentence: 'Copies that move bytes.',
    unit: 'places',
    capacity: 2,
    waitingMaximum: 32,
  },
  'held-answers': {
    sentence: 'Answers in memory that their clients have not read yet.',
    unit: 'bytes',
    capacity: 64 << 20,
  },
} as const satisfies Readonly<Record<string, ShareRow>>

export type ShareName = keyof typeof shareTable
