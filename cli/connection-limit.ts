import { readFileSync } from 'node:fs'

/** Open files of the process beside those of any thread. */
const DESCRIPTORS_OF_PROCESS = 64
/** Files that a thread keeps open whatever is asked of it, 64 volumes among them. */
const DESCRIPTORS_OF_THREAD = 80
/** A connection, and the file that its request reads or writes. */
const DESCRIPTORS_OF_CONNECTION = 2
const CONNECTIONS_LEAST = 8
/** Of all connections, those of the management plane. */
const MANAGEMENT_SHARE = 1 / 8

export interface ConnectionLimits {
  readonly frontEnd: number
  readonly management: number
}

/**
 * How many connections each front end, and the management listener, may hold, so that the process can always open the
 * files it needs: a journal that cannot begin its next segment ends the server, and silent connections cost a client
 * nothing. Node.js has raised the limit of open files to the highest that it may have.
 * @param limits what /proc/self/limits says
 */
export function connectionLimits(
  frontEnds: number,
  limits: string = readFileSync('/proc/self/limits', 'utf8'),
): ConnectionLimits {
  const openFiles = Number(/^Max open files +(?<soft>\d+)/m.exec(limits)?.groups?.['soft'] ?? Number.POSITIVE_INFINITY)
  // The engine and the main thread open files, too.
  const left = openFiles - DESCRIPTORS_OF_PROCESS - (frontEnds + 2) * DESCRIPTORS_OF_THREAD
  const connections = left / DESCRIPTORS_OF_CONNECTION
  const management = Math.max(CONNECTIONS_LEAST, Math.floor(connections * MANAGEMENT_SHARE))
  const frontEnd = Math.max(CONNECTIONS_LEAST, Math.floor((connections - management) / frontEnds))
  // Infinity less infinity is no number.
  return { management, frontEnd: openFiles === Number.POSITIVE_INFINITY ? openFiles : frontEnd }
}
