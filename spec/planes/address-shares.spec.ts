/** An address that holds most connections of a listener leaves places to others. */
import { connect, type Socket } from 'node:net'
import { test } from 'tap'
import { addressWithMost } from '../../planes/http/limits/address-shares.ts'
import type { HttpResponse } from '../../planes/http/exchange.ts'
import { serve } from './http-server.ts'
import { head } from '../support/raw/request-text.ts'
import { until } from '../support/waiting.ts'

const OK: HttpResponse = { status: 200, headers: [], body: 'done' }
const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const REST = '00000000:00000000 00:00000000 00000000     0        0 1660 1 00000000a610b02b 100 0 0 10 0\n'

function table(...rows: readonly string[]): string {
  return HEADER + rows.map((row, index) => `${String(index).padStart(4)}: ${row} ${REST}`).join('')
}

test('the address that has more than half is read from the tables of the kernel', (t) => {
  const one = '0100007F:1DB0 0200000A:C001 01'
  const other = '0100007F:1DB0 0300000A:C001 01'
  t.equal(addressWithMost([table(one, one, other)], 7600), '10.0.0.2')
  t.equal(addressWithMost([table(one, one, other, other)], 7600), undefined, 'half is not more than half')
  t.equal(addressWithMost([table(one, '0100007F:1DB0 0300000A:C001 06', other, one)], 7600), '10.0.0.2', 'TIME_WAIT')
  t.equal(addressWithMost([table(one, '0100007F:1DB1 0300000A:C001 01')], 7600), '10.0.0.2', 'another port')
  t.equal(addressWithMost([table('00000000:1DB0 00000000:0000 0A')], 7600), undefined, 'the listener itself')
  const local = '0000000000000000FFFF00000100007F:1DB0'
  const mapped = `${local} 0000000000000000FFFF00000200000A:C001 01`
  t.equal(addressWithMost([table(), table(mapped)], 7600), '10.0.0.2', 'IPv4 on a socket of IPv6')
  const version6 = `${local} B80D0120000000000000000001000000:C001 08`
  t.equal(addressWithMost([table(one), table(version6, version6)], 7600), '2001:db8::1')
  t.equal(addressWithMost(['', ''], 7600), undefined)
  t.end()
})

test('connections of one address that never end, with a request now and then, leave places to others', async (t) => {
  const listener = await serve(t, () => OK, { connectionsMaximum: 8 })
  const greedy = new Set<Socket>()
  let isOver = false
  const open = () => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress: '127.0.0.66' })
    const ask = () => socket.write(head('GET /'))
    greedy.add(socket)
    socket.on('error', () => undefined).on('connect', ask)
    socket.on('data', () => setTimeout(ask, 5))
    socket.on('close', () => {
      greedy.delete(socket)
      if (!isOver) setTimeout(open, 5)
    })
  }
  for (let count = 0; count < 20; count += 1) open()
  t.teardown(() => {
    isOver = true
    for (const socket of greedy) socket.destroy()
  })
  await until(() => [...greedy].filter(({ bytesRead }) => bytesRead > 0).length >= 6)
  let answers = 0
  const polite = () => {
    const socket = connect({ port: listener.port, host: '127.0.0.1' })
    socket.on('error', () => undefined).on('connect', () => socket.write(head('GET /')))
    socket.on('data', (bytes) => {
      t.match(String(bytes), /^HTTP\/1\.1 200 OK\r\n/)
      t.notMatch(String(bytes), /Connection: close/, 'it need not give way')
      answers += 1
      if (answers < 5) socket.write(head('GET /'))
      else socket.destroy()
    })
    socket.on('close', () => answers < 5 && setTimeout(polite, 5))
  }
  polite()
  await until(() => answers >= 5)
  t.ok(answers >= 5)
})
