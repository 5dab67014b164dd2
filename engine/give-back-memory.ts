import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Time for a thread to load its modules, so that the collection does not delay the start. */
const DELAY_MILLISECONDS = 1000

/**
 * Collects the garbage of this thread. Loading modules makes V8's young generation grow, up to 32 MiB, and leaves
 * unreferenced buffers. V8 gives neither back before its next full collection, which an idle server never reaches. It
 * takes 10 to 20 ms of the thread.
 */
export function giveBackMemory(): void {
  // The flag is the process's and is never taken back: all threads come here at about the same time, and a thread whose
  // context is made after another one took the flag back ends the server, since its context has no `gc`.
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}

/** The same once, soon after the start of this thread. */
export function giveBackMemorySoon(): void {
  setTimeout(giveBackMemory, DELAY_MILLISECONDS).unref()
}
