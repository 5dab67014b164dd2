/**
 * The two HTTP drivers. uWebSockets.js is faster, and comes as binaries for some platforms and versions of Node;
 * node:http is always available. Both keep to the same bounds, and planes cannot tell them apart.
 */

export type HttpDriver = 'uws' | 'node'

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

/** Versions of Node that let several listeners of node:http share a port: 22.12, and all since 23.1. */
export function sharesPorts(driver: HttpDriver, nodeVersion: string): boolean {
  if (driver === 'uws') return true
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
}
