/**
 * A program: a receiver of webhooks that answers 204 to every POST. `GET /count` returns how many have come; `GET /arrivals`
 * when each object's event came, by key, in milliseconds since 1970, and forgets them. Prints its port; ends when standard
 * input ends.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A load has many more, whose times are not needed. */
const ARRIVALS_MAXIMUM = 10_000

let count = 0
const arrivals = new Map<string, number>()

async function take(request: IncomingMessage): Promise<void> {
  const { object } = JSON.parse(await text(request)) as { object?: string }
  count += 1
  if (object !== undefined && arrivals.size < ARRIVALS_MAXIMUM) arrivals.set(object, Date.now())
}

const server = createServer(async (request, response) => {
  if (request.method === 'POST') {
    await take(request)
    response.writeHead(204).end()
  } else if (request.url === '/count') response.end(JSON.stringify(count))
  else {
    response.end(JSON.stringify(Object.fromEntries(arrivals)))
    arrivals.clear()
  }
})

server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.stdin.resume().once('end', () => process.exit(0))
