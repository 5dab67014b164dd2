import type { HttpDriver } from './http-driver.ts'

interface DriverChoice {
  readonly driver: HttpDriver
  /** Why uWebSockets.js, which was tried first, could not be loaded. */
  readonly problem?: string
}

/**
 * @param setting `auto` takes uWebSockets.js where it can be loaded
 * @throws Error with the reason when `uws` is asked for and cannot be loaded
 */
export async function chooseDriver(setting: 'auto' | HttpDriver): Promise<DriverChoice> {
  if (setting === 'node') return { driver: 'node' }
  const problem = await import('./uws/uws-apps.ts').then(
    () => undefined,
    (error: unknown) => reasonOf(error),
  )
  if (problem === undefined) return { driver: 'uws' }
  if (setting === 'auto') return { driver: 'node', problem }
  throw new Error(`server.http_driver is uws, and uWebSockets.js cannot be loaded: ${problem}`)
}

/** First line of the message: the error of a binary that cannot be loaded has several. */
function reasonOf(error: unknown): string {
  const [first = ''] = String(error instanceof Error ? error.message : error).split('\n')
  return first
}
