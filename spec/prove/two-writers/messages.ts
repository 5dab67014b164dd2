/** What the proof and its contenders say to each other, a line each. */

export const CONTESTED_BUCKET = 'contested'

export type FromContender =
  | { readonly serves: true }
  /** The server ended in its start, with this exit code. */
  | { readonly refused: number | null; readonly reason: string }
  /** A key whose PUT was answered with 200. */
  | { readonly acknowledged: string }
  /** The server ended, with this exit code; null after a kill. */
  | { readonly ended: number | null }

export type ToContender = 'stop' | 'kill'
