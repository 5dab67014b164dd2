import { signal } from '@preact/signals'
import { comesBack } from './api-error.ts'

/** Whether the last request found no server. It is asked again then until it answers. */
export const isAway = signal(false)
/** How often what had failed became worth another try: the server is back, or somebody signed in again. */
export const comebacks = signal(0)

const PAUSE_MILLISECONDS = 1000
const PAUSE_MAXIMUM_MILLISECONDS = 10_000
/** A connection that breaks again so soon after it came back is tried more slowly. */
const SOON_MILLISECONDS = 30_000

let pause = PAUSE_MILLISECONDS
let cameBackAt = Number.NEGATIVE_INFINITY

/** Says that no answer came, whatever the reason: the server, the network, a proxy. */
export function noteAway(): void {
  if (isAway.value) return
  isAway.value = true
  const isSoon = performance.now() - cameBackAt < SOON_MILLISECONDS
  pause = isSoon ? Math.min(pause * 2, PAUSE_MAXIMUM_MILLISECONDS) : PAUSE_MILLISECONDS
  void waitForServer()
}

/** Says that what had failed may be tried again. */
export function noteComeback(): void {
  comebacks.value += 1
}

async function waitForServer(): Promise<void> {
  do {
    await passed(pause)
    pause = Math.min(pause * 2, PAUSE_MAXIMUM_MILLISECONDS)
  } while (!(await answers()))
  pause = Math.min(pause, PAUSE_MILLISECONDS * 2)
  cameBackAt = performance.now()
  isAway.value = false
  noteComeback()
}

/** Resolves after a while, or when the browser says that it has a network again. */
function passed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    const now = () => {
      clearTimeout(timer)
      resolve()
    }
    addEventListener('online', now, { once: true })
  })
}

/** The page itself is asked for: that needs no credential, and is in no record. */
async function answers(): Promise<boolean> {
  try {
    return (await fetch(document.baseURI, { method: 'HEAD', cache: 'no-store', credentials: 'omit' })).ok
  } catch {
    return false
  }
}

/**
 * Does something again each time that the server is back or that somebody signed in again, as long as it fails for want of
 * the one or the other.
 * @throws what `act` throws otherwise; the reason of `stopped` when that is aborted
 */
export async function persistently<T>(act: () => Promise<T>, stopped: AbortSignal): Promise<T> {
  for (;;) {
    const before = comebacks.value
    try {
      return await act()
    } catch (error) {
      if (!comesBack(error)) throw error
      await comebackAfter(before, stopped)
    }
  }
}

async function comebackAfter(count: number, stopped: AbortSignal): Promise<void> {
  const control = new AbortController()
  await new Promise<void>((resolve, reject) => {
    stopped.addEventListener('abort', () => reject(stopped.reason), { signal: control.signal })
    const stop = comebacks.subscribe((now) => now !== count && resolve())
    control.signal.addEventListener('abort', stop)
  }).finally(() => control.abort())
}
