import { readFileSync } from 'node:fs'

/** Fewer of the processors than this are idle, and a delivery takes its time from requests. */
const IDLE_SHARE = 0.4
/** Records of the journal a second: with fewer, it is not our requests that keep the processors busy. */
const RECORDS_PER_SECOND = 500

interface Seen {
  readonly milliseconds: number
  readonly records: number
  /** Ticks of all processors since the machine began. */
  readonly total: number
  readonly idle: number
}

/**
 * Returns a function that returns whether requests needed the processors of the machine since its last call: false the
 * first time, and where the kernel does not report how busy they were.
 * @param parts `records`: how many the journal has; `stat`: the text of `/proc/stat` (proc(5))
 */
export function busyMachine(parts: {
  readonly timer: () => number
  readonly records: () => number
  readonly stat?: () => string
}): () => boolean {
  const { timer, records, stat = () => readFileSync('/proc/stat', 'latin1') } = parts
  let before: Seen | undefined
  return () => {
    const seen = { milliseconds: timer(), records: records(), ...ticksOf(stat) }
    const isBusy = before !== undefined && neededBetween(before, seen)
    before = seen
    return isBusy
  }
}

function neededBetween(before: Seen, after: Seen): boolean {
  const seconds = (after.milliseconds - before.milliseconds) / 1000
  if (after.records - before.records < RECORDS_PER_SECOND * seconds) return false
  return after.idle - before.idle < IDLE_SHARE * (after.total - before.total)
}

/** The line `cpu`: user, nice, system, idle, waiting for the disk, interrupts, and time that other machines took. */
function ticksOf(stat: () => string): { readonly total: number; readonly idle: number } {
  try {
    const text = stat()
    const [user = 0, nice = 0, system = 0, idle = 0, disk = 0, hard = 0, soft = 0, stolen = 0] = text
      .slice('cpu'.length, text.indexOf('\n'))
      .trim()
      .split(' ')
      .map(Number)
    return { total: user + nice + system + idle + disk + hard + soft + stolen, idle: idle + disk }
  } catch {
    return { total: 0, idle: 0 }
  }
}
