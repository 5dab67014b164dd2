import { signal } from '@preact/signals'
import { comesBack } from './api-error.ts'

/** Whether the server is unreachable. It is polled until it answers. */
export const isAway = signal(false)
/**
 * Counts the events after which failed requests are worth another try: the server is back, or a user signed in again.
 */
export const comebacks = signal(0)

const PAUSE_MILLISECONDS = 1000
const PAUSE_MAXIMUM_MILLISECONDS = 10_000
/** If the connection breaks again within this time after it came back, polling is slower. */
const SOON_MILLISECONDS = 30_000

let pause = PAUSE_MILLISECONDS
let cameBackAt = Number.NEGATIVE_INFINITY

/** Notes that a request got no answer, because of the server, the network or a proxy. */
export function noteAway(): void {
  if (isAway.value) return
  isAway.value = true
  const isSoon = performance.now() - cameBackAt < SOON_MILLISECONDS
  pause = isSoon ? Math.min(pause * 2, PAUSE_MAXIMUM_MILLISECONDS) : PAUSE_MILLISECONDS
  void waitForServer()
}

/** Notes that failed requests are worth another try. */
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

/** Resolves after the time, or when the browser reports that it is online again. */
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

/** Whether the server answers. Requests the page itself, which needs no credential and is not recorded. */
async function answers(): Promise<boolean> {
  try {
    return (await fetch(document.baseURI, { method: 'HEAD', cache: 'no-store', credentials: 'omit' })).ok
  } catch {
    return false
  }
}

/**
 * Runs `act`. If it fails because the server is unreachable or the credential ended, runs it again each time the server
 * is back or a user signed in again.
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
