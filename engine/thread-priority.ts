import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/**
 * Makes the calling thread nicer than those that serve requests: on Linux each thread has a priority of its own. A thread
 * that is nicer already may not become less so. Where a service manager forbids it (`~@resources` in our unit), the thread
 * keeps its priority: it only takes a larger share.
 */
export function beNicer(nice: number): void {
  const thread = Number.parseInt(readFileSync('/proc/thread-self/stat', 'latin1'), 10)
  if (getPriority(thread) >= nice) return
  try {
    setPriority(thread, nice)
  } catch (error) {
    if ((error as { readonly info?: { readonly code?: string } }).info?.code !== 'EPERM') throw error
  }
}
