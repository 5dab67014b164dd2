/**
 * Which HTTP driver specs run over. `SPEC_HTTP_DRIVER` names it; without it, what a server takes by itself. The same specs
 * are run over both.
 */
import { environment } from '../../cli/environment.ts'
import type { HttpDriver } from '../../planes/http/http-driver.ts'
import { chooseDriver } from '../../planes/http/choose-driver.ts'
import { listen } from '../../planes/http/listen.ts'
import type { HttpListener, ListenOptions } from '../../planes/http/listener.ts'

const CHOICES = { auto: 'auto', uws: 'uws', node: 'node' } as const

async function driverOfSpecs(): Promise<HttpDriver> {
  const wanted = environment['SPEC_HTTP_DRIVER'] ?? 'auto'
  const setting = CHOICES[wanted as keyof typeof CHOICES]
  if (setting === undefined) throw new Error(`SPEC_HTTP_DRIVER is ${wanted}: auto, uws or node`)
  return (await chooseDriver(setting)).driver
}

export const HTTP_DRIVER = await driverOfSpecs()

/** A listener over the driver of the specs. */
export function listenBySpec(options: Omit<ListenOptions, 'driver'>): Promise<HttpListener> {
  return listen({ driver: HTTP_DRIVER, ...options })
}
