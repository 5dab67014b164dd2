/**
 * The bad clients of the proof `crowd`, in a process of their own: it tells how much of the processors they took, and what
 * they cost must not slow down who measures. They send bytes that were made and signed before.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { processorSeconds } from '../../support/process-gauges.ts'

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
  /** Comes so long after the others. */
  readonly comesAfterMilliseconds?: number
}

/** Bad clients at work. */
export interface BadClients {
  /** Of their process, so far. */
  processorSeconds(): number
  stop(): Promise<void>
}

/** How soon a client that was cut off comes back. */
const REOPEN_MILLISECONDS = 20
const ADDRESS = '127.0.0.66'

export async function startBadClients(badness: readonly Badness[]): Promise<BadClients> {
  const child = fork(fileURLToPath(import.meta.url), { serialization: 'advanced' })
  const ended = once(child, 'exit')
  child.send(badness)
  await once(child, 'message')
  return {
    processorSeconds: () => processorSeconds(child.pid),
    stop: () => end(child, ended),
  }
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error('the bad clients ended by themselves')
  child.kill('SIGKILL')
  await ended
}

function open(badness: Badness): void {
  const { port, first, piece, everyMilliseconds = 1000, reads, leavesAfterMilliseconds } = badness
  const bytes = Buffer.from(first, 'latin1')
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: ADDRESS })
  socket.on('error', () => undefined)
  socket.once('connect', () => {
    if (first !== '') socket.write(bytes)
    if (reads) socket.on('data', () => socket.write(bytes))
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

// In the process of its own.
if (process.argv[1] === fileURLToPath(import.meta.url) && process.send !== undefined) {
  process.once('message', (all: readonly Badness[]) => {
    for (const badness of all) {
      const come = () => Array.from({ length: badness.connections }, () => open(badness))
      if (badness.comesAfterMilliseconds === undefined) come()
      else setTimeout(come, badness.comesAfterMilliseconds)
    }
    process.send?.('open')
  })
  process.once('disconnect', () => process.exit(0))
}
