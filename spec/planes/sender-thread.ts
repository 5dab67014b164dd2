/** A thread that uploads as fast as the kernel takes it, so that its sender never waits for the thread of the listener. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { workerData } from 'node:worker_threads'
import { head } from '../support/raw/request-text.ts'

const PIECE_BYTES = 1024 * 1024

export interface Sending {
  readonly port: number
  readonly secure: boolean
  readonly bytes: number
}

const { port, secure, bytes } = workerData as Sending

async function upload(): Promise<void> {
  const socket: Socket = secure ? connectTls({ port, rejectUnauthorized: false }) : connect({ port })
  await once(socket, secure ? 'secureConnect' : 'connect')
  const piece = Buffer.alloc(PIECE_BYTES)
  const ended = once(socket.resume(), 'close')
  socket.write(head('PUT /', `Content-Length: ${bytes}`, 'Connection: close'))
  for (let sent = 0; sent < bytes; sent += PIECE_BYTES) if (!socket.write(piece)) await once(socket, 'drain')
  await ended
}

await upload()
