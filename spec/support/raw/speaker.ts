/** A listener that says what it is told to, for specs of what reads answers. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** Answers whatever comes with one text after the other, one byte a character; hangs up for an empty one. */
export async function speaker(t: Test, ...answers: readonly string[]): Promise<number> {
  let count = 0
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', () => {
      const answer = answers[count] ?? ''
      count += 1
      if (answer === '') socket.destroy()
      else socket.write(answer, 'latin1')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
