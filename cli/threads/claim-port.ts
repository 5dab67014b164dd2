import { createServer } from 'node:net'

/**
 * Makes sure that nobody listens on a port, and finds one for port 0. Front ends share their port among themselves, and
 * the kernel would as readily share it with another server of the same user: half of the requests would go to the
 * wrong store, without a word.
 * @throws Error naming host and port when it is taken
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
