/** Starts the HTTP server of a plane, over either driver. */
import { createServer } from 'node:net'
import type { HttpListener, ListenOptions } from './listener.ts'

/**
 * Starts a listener in this thread. A driver is loaded on first use, because uWebSockets.js reads the bound on heads
 * then and cannot be loaded everywhere (see `header-limits.ts` and `http-driver.ts`).
 * @throws TlsFilesError when the TLS files cannot be used
 * @throws Error naming host and port when the address cannot be listened on
 */
export async function listen(options: ListenOptions): Promise<HttpListener> {
  const listener = await makeListener(options)
  try {
    if (await listener.open()) return listener
  } catch (error) {
    await listener.discard()
    throw error
  }
  await listener.discard()
  throw new Error(`Cannot listen on ${options.host}:${options.port}: ${await listenFailure(options)}`)
}

async function makeListener(options: ListenOptions) {
  if (options.driver === 'node') {
    const { NodeListener } = await import('./node/node-server.ts')
    return new NodeListener(options)
  }
  const { UwsListener } = await import('./uws/uws-server.ts')
  return new UwsListener(options)
}

/** The reason of a failed listen: drivers report only the failure, so the kernel is asked again. */
function listenFailure({ host, port }: ListenOptions): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EADDRINUSE' ? 'the port is in use' : error.message)
    })
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('the address cannot be bound')))
  })
}
