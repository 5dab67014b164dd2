import { createServer } from 'node:net'

/**
 * Checks that a port is free, and finds one for port 0. Front ends share their port, and the kernel would also share it
 * with another server of the same user: half of the requests would silently go to the wrong store.
 * @throws Error naming host and port if it is taken
 */
export function claimPort(host: string, port: number): Promise<number> {
  const probe = createServer()
  return new Promise((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'another process listens there' : error.message
      reject(new Error(`cannot listen on ${host}:${port}: ${reason}`, { cause: error }))
    })
    probe.listen({ host, port, exclusive: true }, () => {
      const address = probe.address()
      const claimed = typeof address === 'object' && address !== null ? address.port : port
      probe.close(() => resolve(claimed))
    })
  })
}
