import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Of the scheduler: a thread that serves requests gets ten times as much of a processor. */
const NICE = 10

/**
 * Makes the thread that calls it give way to those that serve requests. Linux has a priority for each thread, whose number is
 * the first field; who is nicer already may not become less so.
 */
export function giveWay(): void {
  const thread = Number.parseInt(readFileSync('/proc/thread-self/stat', 'latin1'), 10)
  if (getPriority(thread) < NICE) setPriority(thread, NICE)
}
