/** Many prepared requests within seconds: 30,000 of them must not take a minute. */
import { once } from 'node:events'
import { connect } from 'node:net'

/** Several, since the server closes a connection that sends its next request before it was answered. */
const CONNECTIONS = 32
const STATUS = /^HTTP\/1\.1 (\d+)/

/**
 * @param texts requests whose answers come in one piece
 * @throws Error when one is not answered with 200
 */
export async function sendAll(port: number, texts: readonly string[]): Promise<void> {
  const left = texts.values()
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sendOneByOne(port, left)))
}

async function sendOneByOne(port: number, left: IterableIterator<string>): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' })
  const closed = new AbortController()
  socket.once('close', () => closed.abort(new Error('the server closed a connection')))
  try {
    // A loop `for of` would end the iterator for the other connections.
    for (let { value } = left.next(); value !== undefined; { value } = left.next()) {
      socket.write(value, 'latin1')
      const [answer] = (await once(socket, 'data', closed)) as [Buffer]
      const [, status] = STATUS.exec(answer.toString('latin1')) ?? []
      if (status !== '200') throw new Error(`${value.split(' ')[1]} was answered ${status}`)
    }
  } finally {
    socket.destroy()
  }
}
