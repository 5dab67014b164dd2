/** What a process uses, as proc(5) says. */
import { readFileSync } from 'node:fs'

/** USER_HZ, which the kernel's interface fixes at 100 on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100

/** Processor seconds in all threads so far. */
export function processorSeconds(pid: number | undefined): number {
  const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // After the name in brackets the state is the first field; user and system time are the 12th and 13th.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/**
 * RssAnon in MiB: heaps, buffers, stacks. The kernel cannot take these back, so a leak is found here. NaN for a process
 * that has ended.
 */
export function anonymousMebibytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}
