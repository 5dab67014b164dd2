/** What a process holds, as proc(5) says. */
import { readdirSync, readlinkSync } from 'node:fs'
import { anonymousMebibytes } from '../../support/process-gauges.ts'
import type { Reading } from './growth.ts'

const INTERVAL_MILLISECONDS = 1000

/** Reads the memory of a process once a second until it is stopped. */
export class MemoryWatch {
  readonly readings: Reading[] = []
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout

  /** @param pid undefined while there is nothing to read */
  constructor(pid: () => number | undefined) {
    this.#timer = setInterval(() => {
      const process = pid()
      const anonymous = process === undefined ? Number.NaN : anonymousMebibytes(process)
      if (!Number.isNaN(anonymous)) this.readings.push([this.seconds, anonymous])
    }, INTERVAL_MILLISECONDS)
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** How many descriptors of each kind are open. */
export interface Descriptors {
  readonly sockets: number
  /** Files of single payloads and of uploads in progress. */
  readonly payloads: number
  /** Files that have no name any more: their space is not given back. */
  readonly deleted: number
  /** Volumes: at most one descriptor for each reader. */
  readonly volumes: number
  /** Everything else: the journal, the projections, event descriptors. */
  readonly others: number
}

/** @throws Error when there is no such process */
export function descriptorKindsOf(pid: number): Descriptors {
  const counts = { sockets: 0, payloads: 0, deleted: 0, volumes: 0, others: 0 }
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    const target = targetOf(`/proc/${pid}/fd/${name}`)
    if (target.startsWith('socket:')) counts.sockets += 1
    else if (target.endsWith(' (deleted)')) counts.deleted += 1
    else if (/\/payloads\/(?:files|tmp)\//.test(target)) counts.payloads += 1
    else if (target.endsWith('.volume')) counts.volumes += 1
    else if (target !== '') counts.others += 1
  }
  return counts
}

/** Empty for one that was closed meanwhile. */
function targetOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
