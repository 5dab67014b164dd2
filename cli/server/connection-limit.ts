import { openFilesMaximum } from './open-files.ts'

/** Open files of the process that belong to no thread. */
const DESCRIPTORS_OF_PROCESS = 64
/** Files that a thread may keep open without a request, including 64 volumes. */
const DESCRIPTORS_OF_THREAD = 80
/** The socket, and the file that its request reads or writes. */
const DESCRIPTORS_OF_CONNECTION = 2
const CONNECTIONS_LEAST = 8
/** Share of the management plane. */
const MANAGEMENT_SHARE = 1 / 8
/** Share of the console. */
const CONSOLE_SHARE = 1 / 16

interface ConnectionLimits {
  readonly frontEnd: number
  readonly management: number
  readonly console: number
}

/**
 * How many connections each front end, the management listener and the console may have, so that the process can always
 * open the files it needs: a journal that cannot begin its next segment ends the server, and idle connections cost a client nothing.
 * Node.js has already raised the limit of open files to its maximum.
 * @param openFiles how many files the process may have open
 */
export function connectionLimits(frontEnds: number, openFiles: number = openFilesMaximum()): ConnectionLimits {
  // Plus two: the engine and the main thread open files, too.
  const left = openFiles - DESCRIPTORS_OF_PROCESS - (frontEnds + 2) * DESCRIPTORS_OF_THREAD
  const connections = left / DESCRIPTORS_OF_CONNECTION
  const share = (part: number) => Math.max(CONNECTIONS_LEAST, Math.floor(connections * part))
  const management = share(MANAGEMENT_SHARE)
  const console = share(CONSOLE_SHARE)
  const frontEnd = Math.max(CONNECTIONS_LEAST, Math.floor((connections - management - console) / frontEnds))
  // Infinity minus infinity is NaN.
  return { management, console, frontEnd: openFiles === Number.POSITIVE_INFINITY ? openFiles : frontEnd }
}
