/**
 * Bounds the unread bytes that the kernel keeps for a connection.
 *
 * When a read fills its buffer of 512 KiB, uWebSockets.js reads the socket again at once, even if it was paused
 * meanwhile. By default the kernel buffers up to 32 MiB for each connection (`net.ipv4.tcp_rmem`), so a fast sender
 * could keep the thread busy on its connection indefinitely. A smaller receive buffer ends that after one read. Neither
 * Node.js nor uWebSockets.js can set it, so the C library is called (spec/decisions/0093-large-uploads.md).
 */
import { readdirSync } from 'node:fs'
import koffi from 'koffi'

/**
 * Requested size. The kernel doubles it for its own overhead, which keeps a read below 512 KiB. It grants at most
 * 208 KiB unless `net.core.rmem_max` is raised.
 */
const RECEIVE_BUFFER_BYTES = 192 * 1024

/** Constants of Linux, the same on every platform of uWebSockets.js (socket(7)). */
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const SO_ACCEPTCONN = 30
const AF_INET = 2
const AF_INET6 = 10
/** Size of the longest socket address, and offset of the port in both families. */
const ADDRESS_BYTES = 128
const PORT_OFFSET = 2

const libc = koffi.load(null)
const getsockname = libc.func('int getsockname(int, _Out_ uint8_t *, _Inout_ uint32_t *)')
const getsockopt = libc.func('int getsockopt(int, int, int, _Out_ int *, _Inout_ uint32_t *)')
const setsockopt = libc.func('int setsockopt(int, int, int, const int *, uint32_t)')

/**
 * Bounds the receive buffers of the connections that this process accepts on `port` from now on.
 * @throws Error when no socket listens on it, or the kernel refuses
 */
export function boundReceiveBuffers(port: number): void {
  const sockets = listeningSockets(port)
  if (sockets.length === 0) throw new Error(`No socket of this process listens on port ${port}`)
  for (const socket of sockets) {
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUF, [RECEIVE_BUFFER_BYTES], 4) !== 0) {
      throw new Error(`The kernel refuses to bound the receive buffers of port ${port}: error ${koffi.errno()}`)
    }
  }
}

/** Descriptors of this process that listen on a TCP port; several when threads share it. */
function listeningSockets(port: number): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => isListening(descriptor) && portOf(descriptor) === port)
}

/** False also for a descriptor that is not a socket or was closed meanwhile. */
function isListening(descriptor: number): boolean {
  const value = [0]
  return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, value, [4]) === 0 && value[0] === 1
}

function portOf(descriptor: number): number | undefined {
  const address = Buffer.alloc(ADDRESS_BYTES)
  if (getsockname(descriptor, address, [ADDRESS_BYTES]) !== 0) return undefined
  const family = address[0]
  return family === AF_INET || family === AF_INET6 ? address.readUInt16BE(PORT_OFFSET) : undefined
}
