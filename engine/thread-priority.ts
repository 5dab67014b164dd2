import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** For threads in the background, on the scale of nice(2): a thread that serves requests gets ten times their share. */
export const BACKGROUND_NICE = 10

/**
 * Lowers the priority of the calling thread to `nice`: on Linux each thread has a priority of its own. A thread that has a
 * lower one keeps it. Where a service manager forbids the change (EPERM), the priority stays: the thread only takes a larger
 * share.
 */
export function lowerPriority(nice: number): void {
  const thread = Number.parseInt(readFileSync('/proc/thread-self/stat', 'latin1'), 10)
  if (getPriority(thread) >= nice) return
  try {
    setPriority(thread, nice)
  } catch (error) {
    if ((error as { readonly info?: { readonly code?: string } }).info?.code !== 'EPERM') throw error
  }
}
