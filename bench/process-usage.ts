import { readFileSync } from 'node:fs'

/** Memory of a process in MiB, as proc(5) has it in `/proc/PID/status`. */
export interface MemoryUsage {
  /** VmRSS: all pages in memory, including mapped files. */
  readonly resident: number
  /** RssAnon: heap, buffers, stacks. */
  readonly anonymous: number
  /** RssFile: mapped files, such as the metadata store; the kernel may take these back at any time. */
  readonly file: number
  /** VmHWM: the largest `resident` since the process began. */
  readonly peak: number
}

const KIBIBYTES_PER_MEBIBYTE = 1024
/** USER_HZ, which the kernel's interface fixes at 100 on every architecture that Node runs on. */
const CLOCK_TICKS_PER_SECOND = 100

/** @throws Error when there is no such process */
export function memoryUsage(pid: number): MemoryUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const mebibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN) / KIBIBYTES_PER_MEBIBYTE
  return {
    resident: mebibytes('VmRSS'),
    anonymous: mebibytes('RssAnon'),
    file: mebibytes('RssFile'),
    peak: mebibytes('VmHWM'),
  }
}

/**
 * Interval of sampling the memory of a process: the kernel keeps a peak of all pages, and none of the anonymous ones.
 */
const LOOK_MILLISECONDS = 50

/** Looks at the memory of a process until `end`, which returns the largest that was seen of each. */
export function watchMemory(pid: number): { readonly end: () => Pick<MemoryUsage, 'anonymous' | 'resident'> } {
  const peak = { anonymous: 0, resident: 0 }
  const look = (): void => {
    const { anonymous, resident } = memoryUsage(pid)
    peak.anonymous = Math.max(peak.anonymous, anonymous)
    peak.resident = Math.max(peak.resident, resident)
  }
  const timer = setInterval(look, LOOK_MILLISECONDS)
  const end = () => {
    clearInterval(timer)
    look()
    return peak
  }
  return { end }
}

/** Processor seconds that a process has used in all its threads, in user and kernel mode. */
export function processorSeconds(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The second field is the command in brackets and may hold blanks; utime and stime are fields 14 and 15.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}
