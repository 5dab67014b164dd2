/** Waiting in specs: for a condition, for a signal, for a while. */

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

/** What comes within so many milliseconds, or undefined. No timer is left, which would keep a process that is done. */
export async function atMost<T>(milliseconds: number, coming: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined)
  })
  try {
    return await Promise.race([coming, over])
  } finally {
    clearTimeout(timer)
  }
}

/** A promise and what resolves it. */
export interface Signal {
  readonly given: Promise<void>
  give(): void
}

export function signal(): Signal {
  const made: { give?: () => void } = {}
  const given = new Promise<void>((resolve) => {
    made.give = resolve
  })
  return { given, give: () => made.give?.() }
}

/** Waits until `condition` holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5)
}
