/**
 * Resumes paused uploads one at a time.
 *
 * One turn of the event loop reads one upload, so that its length does not depend on the number of clients, and other
 * requests are served in between. A turn is granted only while few bytes wait for sinks, so memory does not depend on
 * it either.
 */

/** A turn is granted up to this many pending sink bytes of the thread. */
const WAITING_BYTES_MAXIMUM = 8 * 1024 * 1024

/** Bytes that wait for sinks in this thread. Bytes of bodies without a sink are not counted: they may wait long. */
let waitingBytes = 0

/** In order of asking. */
const asking = new Set<() => void>()
let scheduled = false

/** Adds bytes that wait for a sink, or subtracts them (negative). */
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
  // The poll phase follows immediates, so the socket is read before the next one gets its turn.
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
