/** What a process holds, as proc(5) tells it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface Memory {
  /** VmRSS in MiB: all pages in memory, those of mapped files included. */
  readonly resident: number
  /** RssAnon in MiB: heaps, buffers, stacks. The kernel cannot take these back, so a leak is found here. */
  readonly anonymous: number
}

/** @throws Error when there is no such process */
export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
  return { resident: mebibytes('VmRSS'), anonymous: mebibytes('RssAnon') }
}

/** How many descriptors are open. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** What the descriptors stand for. */
export interface Descriptors {
  readonly sockets: number
  /** Files of single payloads and of uploads on their way. */
  readonly payloads: number
  /** Files that have no name any more: their space is not given back. */
  readonly deleted: number
  /** Volumes that are there: at most one descriptor for each reader. */
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
