import { beNicer } from '../engine/thread-priority.ts'

/** Of the scheduler: a thread that serves requests gets ten times as much of a processor. */
const NICE = 10

/** Makes the thread that calls it give way to those that serve requests. */
export function giveWay(): void {
  beNicer(NICE)
}
