/** Where a request comes from, as known proxies say; nobody else is believed. */
import { test } from 'tap'
import { networkProblem, TrustedProxies } from '../../planes/http/limits/trusted-proxies.ts'
import type { HttpHandler } from '../../planes/http/exchange.ts'
import { serve } from './http-server.ts'

const PROXIES = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8:1::/48'])

function clientOf(peer: string, headers: Readonly<Record<string, string>> = {}): string {
  return PROXIES.clientOf(peer, (name) => headers[name])
}

const CASES: readonly (readonly [what: string, peer: string, headers: Record<string, string>, client: string])[] = [
  ['no proxy is believed in nothing', '198.51.100.1', { 'x-forwarded-for': '203.0.113.9' }, '198.51.100.1'],
  ['nor in the other header', '192.0.2.8', { forwarded: 'for=203.0.113.9' }, '192.0.2.8'],
  ['a proxy that says nothing', '10.1.2.3', {}, '10.1.2.3'],
  ['a proxy', '192.0.2.7', { 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
  ['with a port', '10.1.2.3', { 'x-forwarded-for': '203.0.113.9:4711' }, '203.0.113.9'],
  ['the last that is of no proxy', '10.1.2.3', { 'x-forwarded-for': '6.6.6.6, 203.0.113.9, 10.9.9.9' }, '203.0.113.9'],
  ['what a client sent is not read', '10.1.2.3', { 'x-forwarded-for': 'x"[, ,203.0.113.9' }, '203.0.113.9'],
  ['proxies alone: the farthest', '10.1.2.3', { 'x-forwarded-for': '10.4.4.4, 192.0.2.7' }, '10.4.4.4'],
  ['no address', '10.1.2.3', { 'x-forwarded-for': 'localhost' }, '10.1.2.3'],
  ['nothing at the end', '10.1.2.3', { 'x-forwarded-for': '203.0.113.9,' }, '10.1.2.3'],
  ['an empty list', '10.1.2.3', { 'x-forwarded-for': '' }, '10.1.2.3'],
  ['a zone', '10.1.2.3', { 'x-forwarded-for': 'fe80::1%eth0' }, '10.1.2.3'],
  ['a number', '10.1.2.3', { 'x-forwarded-for': '2130706433' }, '10.1.2.3'],
  ['a port that is none', '10.1.2.3', { 'x-forwarded-for': '203.0.113.9:x' }, '10.1.2.3'],
  ['version 6, in its short form', '10.1.2.3', { 'x-forwarded-for': '2001:DB8:0:0::1' }, '2001:db8::1'],
  ['with brackets and a port', '10.1.2.3', { 'x-forwarded-for': '[2001:db8::1]:443' }, '2001:db8::1'],
  ['mapped', '10.1.2.3', { 'x-forwarded-for': '::ffff:203.0.113.9' }, '203.0.113.9'],
  ['a proxy of version 6', '2001:db8:1::9', { 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
  ['Forwarded', '10.1.2.3', { forwarded: 'for=6.6.6.6, for=203.0.113.9;proto=https;by=10.1.2.3' }, '203.0.113.9'],
  ['in any case', '10.1.2.3', { forwarded: 'proto=http;For="203.0.113.9:80"' }, '203.0.113.9'],
  ['quoted', '10.1.2.3', { forwarded: 'for="[2001:db8::1]:4711"' }, '2001:db8::1'],
  ['a quote that a client left open', '10.1.2.3', { forwarded: 'for="6.6.6.6, for="[2001:db8::1]"' }, '2001:db8::1'],
  ['hidden', '10.1.2.3', { forwarded: 'for=_hidden' }, '10.1.2.3'],
  ['unknown', '10.1.2.3', { forwarded: 'for=203.0.113.9, for=unknown' }, '10.1.2.3'],
  ['no for', '10.1.2.3', { forwarded: 'for=203.0.113.9, by=10.1.2.3' }, '10.1.2.3'],
  ['twice', '10.1.2.3', { forwarded: 'for=203.0.113.9;for=6.6.6.6' }, '10.1.2.3'],
  ['both agree', '10.1.2.3', { forwarded: 'for=203.0.113.9', 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
  ['both disagree', '10.1.2.3', { forwarded: 'for=6.6.6.6', 'x-forwarded-for': '203.0.113.9' }, '10.1.2.3'],
  ['one cannot be read', '10.1.2.3', { forwarded: 'for=unknown', 'x-forwarded-for': '203.0.113.9' }, '10.1.2.3'],
]

const handler: HttpHandler = ({ remoteAddress }) => ({ status: 200, headers: [], body: remoteAddress })

test('the client of a request', async (t) => {
  for (const [what, peer, headers, client] of CASES) t.equal(clientOf(peer, headers), client, what)
})

test('entries of the list', async (t) => {
  for (const right of ['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', '10.0.0.1/32']) {
    t.equal(networkProblem(right), undefined, right)
  }
  const no = 'is neither an IP address nor a network such as 10.0.0.0/8'
  for (const wrong of ['', 'proxy.example', '10.0.0', '10.0.0.0/8/8', 'fe80::1%eth0', '010.0.0.1']) {
    t.equal(networkProblem(wrong), no, wrong)
  }
  t.equal(networkProblem('10.0.0.0/33'), 'has no prefix length of 1 to 32')
  t.equal(networkProblem('10.0.0.0/'), 'has no prefix length of 1 to 32')
  t.equal(networkProblem('::/129'), 'has no prefix length of 1 to 128')
  t.match(networkProblem('0.0.0.0/0'), /^is every address/)
})

test('a listener says what its proxies say', async (t) => {
  const asked = async (trustedProxies?: readonly string[]) => {
    const { port } = await serve(t, handler, trustedProxies === undefined ? {} : { trustedProxies })
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    return (await fetch(`http://127.0.0.1:${port}/`, { headers })).text()
  }
  t.equal(await asked(), '127.0.0.1')
  t.equal(await asked([]), '127.0.0.1')
  t.equal(await asked(['127.0.0.2']), '127.0.0.1')
  t.equal(await asked(['127.0.0.0/24']), '203.0.113.9')
})
