import { test } from 'tap'
import { claimPort } from '../../cli/threads/claim-port.ts'
import { listen } from '../../planes/http/uws-server.ts'

const HOST = '127.0.0.1'

test('a free port is found for port 0, and is free afterwards', async (t) => {
  const port = await claimPort(HOST, 0)
  t.ok(port > 0)
  t.equal(await claimPort(HOST, port), port)
})

test('a port that another server shares with anyone is refused all the same', async (t) => {
  const port = await claimPort(HOST, 0)
  const listener = await listen({ host: HOST, port, handler: () => ({ status: 200, headers: [] }) })
  await t.rejects(claimPort(HOST, port), { message: `cannot listen on ${HOST}:${port}: another process listens there` })
  await listener.close(0)
  t.equal(await claimPort(HOST, port), port)
})

test('a host that is not of this machine is refused with the reason', async (t) => {
  await t.rejects(claimPort('192.0.2.1', 7600), /cannot listen on 192\.0\.2\.1:7600: .*EADDRNOTAVAIL/)
})
