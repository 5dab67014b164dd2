/** Listeners over the driver of the specs, for specs of the HTTP server. */
import type { HttpHandler } from '../../planes/http/exchange.ts'
import type { HttpListener, ListenOptions } from '../../planes/http/listener.ts'
import { listenBySpec as listen } from '../support/http-driver.ts'

export { listen }

/** What the teardown of a test needs. */
interface Teardown {
  teardown(action: () => unknown): void
}

/** A listener on a free port of 127.0.0.1 that closes with the test, and the errors it reported. */
export async function serve(
  t: Teardown,
  handler: HttpHandler,
  options: Partial<ListenOptions> = {},
): Promise<HttpListener & { readonly errors: Error[] }> {
  const errors: Error[] = []
  const onHandlerError = (error: unknown): void => void errors.push(error as Error)
  const listener = await listen({ host: '127.0.0.1', port: 0, handler, onHandlerError, ...options })
  t.teardown(() => listener.close(0))
  return Object.assign(listener, { errors })
}
