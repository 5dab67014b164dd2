/** The bad clients of the proof `crowd`, in a thread of their own: what they cost must not slow down who measures. */
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** What one bad client does, with as many connections as it likes. */
export interface Badness {
  readonly port: number
  readonly connections: number
  /** Sent on each connection at once, and again on every connection that takes the place of one that ended. */
  readonly first: string
  /** Sent again and again on each connection. */
  readonly piece?: string
  readonly everyMilliseconds?: number
  /** Whether answers are read; each answer that is read is asked for again with `first`. */
  readonly reads: boolean
  /** Leaves so soon after it came. */
  readonly leavesAfterMilliseconds?: number
}

const REOPEN_MILLISECONDS = 250
const ADDRESS = '127.0.0.66'

function open(badness: Badness): void {
  const { port, first, piece, everyMilliseconds = 1000, reads, leavesAfterMilliseconds } = badness
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: ADDRESS })
  socket.on('error', () => undefined)
  socket.once('connect', () => {
    if (first !== '') socket.write(first, 'latin1')
    if (reads) socket.on('data', () => socket.write(first, 'latin1'))
    else if (first !== '' && piece === undefined) socket.pause()
    else socket.resume()
  })
  const timer = piece === undefined ? undefined : setInterval(() => socket.write(piece, 'latin1'), everyMilliseconds)
  const leave =
    leavesAfterMilliseconds === undefined ? undefined : setTimeout(() => socket.destroy(), leavesAfterMilliseconds)
  socket.once('close', () => {
    clearInterval(timer)
    clearTimeout(leave)
    setTimeout(() => open(badness), REOPEN_MILLISECONDS)
  })
}

const main = parentPort
if (main !== null) {
  for (const badness of workerData as readonly Badness[]) {
    for (let count = 0; count < badness.connections; count += 1) open(badness)
  }
}
