import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports below those that the kernel gives to connections and to listeners without a port (ip(7), `ip_local_port_range`). */
const FIXED_PORTS = { first: 10_000, count: 22_000 } as const

/** A port on which no process listens now, and which the kernel gives to no other process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIXED_PORTS.first + randomInt(FIXED_PORTS.count)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
