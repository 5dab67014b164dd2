/**
 * Lets uploads that were paused run again one at a time.
 *
 * One turn of the event loop reads one of them, so that its length does not depend on how many clients send, and requests
 * of others come in between. A socket gets its turn only when little waits elsewhere for its sinks, so memory does not
 * depend on it either.
 */

/** A turn is given when no more than so many bytes wait for the sinks of the thread. */
const WAITING_BYTES_MAXIMUM = 8 * 1024 * 1024

/** Bytes that wait for sinks in this thread. Those that no sink has been named for are not counted: they may wait long. */
let waitingBytes = 0

/** In order of asking. */
const asking = new Set<() => void>()
let scheduled = false

/** Counts bytes in (positive) that wait for a sink, or out (negative). */
export function countWaiting(bytes: number): void {
  waitingBytes += bytes
  if (bytes < 0) schedule()
}

/** Calls `resume` when it is its turn; asking again while waiting changes nothing. */
export function askForTurn(resume: () => void): void {
  asking.add(resume)
  schedule()
}

/** Withdraws `resume`, if it still waits. */
export function cancelTurn(resume: () => void): void {
  asking.delete(resume)
}

function schedule(): void {
  if (scheduled || asking.size === 0 || waitingBytes > WAITING_BYTES_MAXIMUM) return
  scheduled = true
  // What follows immediates is the poll phase: the socket is read before the next one gets its turn.
  setImmediate(giveTurn)
}

function giveTurn(): void {
  scheduled = false
  const [resume] = asking
  if (resume !== undefined && waitingBytes <= WAITING_BYTES_MAXIMUM) {
    asking.delete(resume)
    resume()
  }
  schedule()
}
