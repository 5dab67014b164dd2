/**
 * Shares with a password: tickets, and how often a password may be tried.
 * Proves: RES-AUD-04, RES-AUD-10, API-MET-02, API-PUB-03, AUT-PUB-02, AUT-PUB-03, EVT-AUD-03.
 */
import tap, { test } from 'tap'
import { revokeShare } from '../../support/sharing-commands.ts'
import { startSharing } from '../../support/sharing-server.ts'
import { VISITOR_LIMIT } from '../../../planes/links/attempt-limits.ts'
import { TICKET_MILLISECONDS } from '../../../planes/links/share-tickets.ts'

let now = Date.UTC(2026, 0, 31)
let attemptsAt = 0
const server = await startSharing({ clock: () => now, now: () => attemptsAt })
tap.teardown(() => server.stop())
const { ask, store } = server
await server.put('secret.txt', 'what nobody may know')
const PASSWORD = 'Käse & <Brot> 🧀'
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
const { token, id } = await server.share('secret.txt', { password: PASSWORD })

function unlock(password: unknown, of = token) {
  return ask('POST', `/s/${of}/unlock`, JSON_TYPE, JSON.stringify({ password }))
}

async function ticketOf(of = token): Promise<string> {
  attemptsAt += 3_600_000
  return JSON.parse((await unlock(PASSWORD, of)).text).ticket
}

async function statusOf(ticket: string, of = token): Promise<number> {
  return (await ask('GET', `/s/${of}/content`, { 'x-share-ticket': ticket })).status
}

test('without its password a share tells nothing but that it has one', async (t) => {
  const described = await ask('GET', `/s/${token}`)
  t.same(JSON.parse(described.text), { locked: true })
  const page = await ask('GET', `/s/${token}`, { accept: 'text/html' })
  t.match(page.text, /<form method="post" action="[\w-]{43}\/unlock">/)
  t.notMatch(page.text, 'secret.txt')
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await ask(method, `/s/${token}/content`)
    t.same([status, headers['www-authenticate']], [401, 'Ticket realm="share"'])
    t.notOk(headers.etag)
  }
})

test('the password gives a ticket, by header or by query', async (t) => {
  const { status, text } = await unlock(PASSWORD)
  t.equal(status, 200)
  const { ticket, expires_at } = JSON.parse(text)
  t.equal(expires_at, '2026-01-31T00:10:00.000000Z')
  t.equal((await ask('GET', `/s/${token}/content`, { 'x-share-ticket': ticket })).text, 'what nobody may know')
  t.equal((await ask('GET', `/s/${token}/content?ticket=${ticket}`)).status, 200)
  t.match(JSON.parse((await ask('GET', `/s/${token}?ticket=${ticket}`)).text), { locked: false, name: 'secret.txt' })
  const page = await ask('GET', `/s/${token}?ticket=${ticket}`, { accept: 'text/html' })
  t.match(page.text, `href="${token}/content?ticket=${ticket}"`)
})

test('only the password itself unlocks, however it was typed', async (t) => {
  const umlaut = PASSWORD.normalize('NFD')
  t.not(umlaut, PASSWORD)
  for (const [password, status] of [
    [umlaut, 200],
    [`${PASSWORD}\u0000`, 403],
    [`${PASSWORD} `, 403],
    [PASSWORD.toLowerCase(), 403],
    [PASSWORD.slice(0, -2), 403],
  ] as const) {
    attemptsAt += 3_600_000
    t.equal((await unlock(password)).status, status, JSON.stringify(password))
  }
})

test('a form gives it by a redirect back to the page', async (t) => {
  attemptsAt += 3_600_000
  const body = new URLSearchParams({ password: PASSWORD }).toString()
  const { status, headers } = await ask('POST', `/s/${token}/unlock`, FORM_TYPE, body)
  t.equal(status, 303)
  t.match(headers.location, new RegExp(`^\\.\\./${token}\\?ticket=[\\w-]{54}$`))
  const wrong = await ask('POST', `/s/${token}/unlock`, FORM_TYPE, 'password=wrong')
  t.equal(wrong.status, 403)
  t.match(wrong.text, /<p class="wrong" role="alert" id="problem">The password is wrong.<\/p>/)
  t.match(wrong.text, '<form method="post" action="unlock">')
})

test('a ticket is good for one share, one password and ten minutes', async (t) => {
  const other = await server.share('secret.txt', { password: PASSWORD })
  const ticket = await ticketOf()
  t.equal(await statusOf(ticket), 200)
  t.equal(await statusOf(ticket, other.token), 401)
  const last = ticket.slice(-1) === 'A' ? 'B' : 'A'
  for (const changed of [`A${ticket.slice(1)}B`, ticket.slice(0, -1) + last, `${ticket.slice(1)}A`, '', 'x']) {
    t.equal(await statusOf(changed), 401, changed)
  }
  now += TICKET_MILLISECONDS - 1
  t.equal(await statusOf(ticket), 200)
  now += 1
  t.equal(await statusOf(ticket), 401)
  const again = await ticketOf(other.token)
  await store.client.execute(revokeShare(other.id))
  t.equal(await statusOf(again, other.token), 410)
})

test('bodies that hold no password', async (t) => {
  for (const [headers, body, status] of [
    [JSON_TYPE, '{}', 400],
    [JSON_TYPE, '{"password":1}', 400],
    [JSON_TYPE, '{"password":""}', 400],
    [JSON_TYPE, '{"password":"a","more":1}', 400],
    [JSON_TYPE, `{"password":"a","password":"${PASSWORD}"}`, 400],
    [JSON_TYPE, `{"password":"a","\\u0070assword":"${PASSWORD}"}`, 400],
    [JSON_TYPE, '["password","a"]', 400],
    [JSON_TYPE, '"\\ud800"', 400],
    [JSON_TYPE, '{"password":"\\ud800"}', 400],
    [JSON_TYPE, 'null', 400],
    [JSON_TYPE, '', 400],
    [JSON_TYPE, JSON.stringify({ password: 'a'.repeat(1025) }), 400],
    [JSON_TYPE, JSON.stringify({ password: 'a'.repeat(10_000) }), 413],
    [FORM_TYPE, 'password=a&password=b', 400],
    [FORM_TYPE, 'passwort=a', 400],
    [FORM_TYPE, 'password', 400],
    [FORM_TYPE, 'password=%ff', 400],
    [{ 'content-type': 'text/plain' }, 'password=a', 415],
    [{}, 'password=a', 415],
  ] as const) {
    t.equal((await ask('POST', `/s/${token}/unlock`, headers, body)).status, status, body.slice(0, 40))
  }
  const open = await server.share('secret.txt')
  t.equal((await unlock('a', open.token)).status, 400, 'a share without a password')
})

test('of many wrong passwords from one address only the documented number is hashed', async (t) => {
  attemptsAt += 3_600_000
  let hashed = 0
  const matches = server.hashing.matches.bind(server.hashing)
  server.hashing.matches = (...given) => {
    hashed += 1
    return matches(...given)
  }
  t.teardown(() => {
    server.hashing.matches = matches
  })
  const answers = []
  for (let count = 0; count < 40; count += 1) answers.push(await unlock(`wrong ${count}`))
  t.equal(hashed, VISITOR_LIMIT.saved)
  t.equal(answers.filter(({ status }) => status === 403).length, VISITOR_LIMIT.saved)
  const last = answers.at(-1)
  t.equal(last?.status, 429)
  t.equal(last?.headers['retry-after'], '10')
  t.match(last?.text, 'SHARE_PASSWORD_THROTTLED')
  t.equal((await unlock(PASSWORD)).status, 429, 'the right one neither')
  attemptsAt += VISITOR_LIMIT.millisecondsEach
  t.equal((await unlock(PASSWORD)).status, 200)
  t.equal((await unlock(PASSWORD)).status, 429)
  t.equal(hashed, VISITOR_LIMIT.saved + 1)
})

test('refusals are records of the public, without token, ticket and password', async (t) => {
  attemptsAt += 3_600_000
  const ticket = await ticketOf()
  await ask('GET', `/s/${token}/content`)
  await unlock('a wrong password')
  for (let count = 0; count < VISITOR_LIMIT.saved; count += 1) await unlock('wrong')
  await ask('GET', `/s/${'B'.repeat(43)}`)
  await ask('GET', `/s/${token}/content?ticket=${ticket}`)
  const records = (await server.journal()).filter(({ principal }) => principal === 'capability:public')
  const told = records.map(({ operation, resource, result }) => `${operation} ${resource} ${result}`)
  t.ok(told.includes('share.denied bucket:photos/secret.txt denied'))
  t.ok(told.includes('share.password_failed bucket:photos/secret.txt denied'))
  t.ok(told.includes('share.password_throttled bucket:photos/secret.txt failure'))
  t.ok(told.includes('share.denied capability:unknown failure'))
  t.ok(
    records.every(({ result }) => result !== 'success'),
    'what is answered is counted, not recorded',
  )
  t.equal(records.find(({ operation }) => operation === 'share.password_failed')?.details.get('share_id'), id)
  t.equal(records[0]?.sourceAddress, '127.0.0.1')
  const text = await server.journalText()
  for (const secret of [token, ticket, PASSWORD, 'a wrong password', 'B'.repeat(43)]) t.notOk(text.includes(secret))
  for (const access of server.accesses) t.notOk(JSON.stringify(access).includes(token))
})

test('nothing failed', (t) => {
  t.same(server.failures, [])
  t.end()
})
