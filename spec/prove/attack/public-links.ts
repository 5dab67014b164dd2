/**
 * Links of shares and embeds by everybody who has none, or another one: guessed, altered, of another kind, revoked, with
 * paths behind the token, by tickets of others, with names that are headers or pages.
 */
import { randomBytes } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { Assault } from './assault.ts'
import { type Link, LinkAttack, PASSWORD, targetOf } from './links.ts'
import { Lane } from '../../support/raw/lane.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'

const GUESSES = 300
const REVOKED_LANES = 12
const TIMED_ROUNDS = 300
const KEY = 'linked'
const UNKNOWN_SHARE = 'share.denied: capability:unknown failure'
const UNKNOWN_EMBED = 'embed.denied: capability:unknown failure'
const JSON_BODY: readonly HeaderLine[] = [['content-type', 'application/json']]
const PAGE: readonly HeaderLine[] = [['accept', 'text/html']]
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Gives a line for the reader. */
export async function attackLinks(assault: Assault): Promise<string> {
  const attack = new LinkAttack(assault)
  assault.canaries.add('the password of a share', PASSWORD)
  try {
    await attack.put(KEY)
    const share = await attack.make('share', KEY, {})
    const embed = await attack.make('embed', KEY, { allowed_origins: ['https://shop.example'] })
    await guess(attack)
    await alter(attack, share, embed)
    await trickPaths(attack, share, embed)
    await unlock(attack)
    await revoke(attack)
    await nameOddly(attack)
    await attackOrigins(attack, embed)
    return await timeLookups(attack, share)
  } finally {
    attack.close()
  }
}

function idOf({ kind, id }: Link): string {
  return `${kind} ${id}`
}

/** Everything of an answer but what is different in each. */
function withoutId({ status, headers, body, requestId }: RawAnswer): string {
  const lines = [...headers].filter(([name]) => !['date', 'x-request-id', 'x-amz-request-id'].includes(name))
  return JSON.stringify([status, lines, body.replace(requestId, '')])
}

/** Tokens that nobody gave out are answered alike, to the byte. */
async function guess(attack: LinkAttack): Promise<void> {
  const seen = new Map<string, string>()
  const check = (which: string, target: string, answer: RawAnswer | undefined) => {
    if (answer === undefined) return
    const text = withoutId(answer)
    if (text !== (seen.get(which) ?? text)) attack.assault.ledger.fault('leaked', target, 'refused unlike other tokens')
    seen.set(which, text)
  }
  const odd = ['A'.repeat(43), 'A'.repeat(42), 'A'.repeat(44), '-'.repeat(43), '%41'.repeat(43), '*', '..', '__proto__']
  const random = Array.from({ length: GUESSES }, () => randomBytes(32).toString('base64url'))
  for (const token of [...odd, ...random, 'x'.repeat(9000)]) {
    for (const [which, target] of [
      ['page', `/s/${token}`],
      ['content', `/s/${token}/content`],
    ] as const) {
      check(which, target, await attack.ask(attack.api, target, 404, { refusal: UNKNOWN_SHARE }))
    }
    check('embed', `/e/${token}`, await attack.ask(attack.s3, `/e/${token}`, 404, { refusal: UNKNOWN_EMBED }))
  }
  attack.assault.ledger.tried('tokens guessed', 3 * (odd.length + random.length + 1))
}

/** A token with another character anywhere, and one of the other kind, opens nothing. */
async function alter(attack: LinkAttack, share: Link, embed: Link): Promise<void> {
  for (const { token, kind } of [share, embed]) {
    for (let at = 0; at < token.length; at += 1) {
      const character = ALPHABET[(ALPHABET.indexOf(token[at] ?? '') + 1) % 64]
      const altered = token.slice(0, at) + character + token.slice(at + 1)
      if (kind === 'share') await attack.ask(attack.api, `/s/${altered}/content`, 404, { refusal: UNKNOWN_SHARE })
      else await attack.ask(attack.s3, `/e/${altered}`, 404, { refusal: UNKNOWN_EMBED })
    }
  }
  await attack.ask(attack.api, `/s/${embed.token}/content`, 404, { refusal: UNKNOWN_SHARE })
  await attack.ask(attack.s3, `/e/${share.token}`, 404, { refusal: UNKNOWN_EMBED })
  attack.assault.ledger.tried('tokens with one other character, or of the other kind', 88)
}

/** What comes before, in and after a token leads nowhere else, and no record has the token. */
async function trickPaths(attack: LinkAttack, share: Link, embed: Link): Promise<void> {
  const { token } = share
  const escaped = `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`
  const paths: readonly (readonly [path: string, refusal: string | undefined])[] = [
    [`/s/${token}/`, undefined],
    [`/s/${token}//content`, undefined],
    [`/s/${token}/content/`, undefined],
    [`/s/${token}/../${token}/content`, undefined],
    [`/s/${token}/content/../../../api/v1/system/info`, undefined],
    [`/s/${token}/%2e%2e/content`, undefined],
    [`//s/${token}/content`, undefined],
    [`/S/${token}/content`, undefined],
    [`/%73/${token}/content`, undefined],
    [`/s%2F${token}%2Fcontent`, undefined],
    [`/s/./${token}/content`, undefined],
    [`/s/${token}%2Fcontent`, UNKNOWN_SHARE],
    [`/s/${token};x/content`, UNKNOWN_SHARE],
    [`/s/${token}%00/content`, UNKNOWN_SHARE],
    [`/s/${token}%20/content`, UNKNOWN_SHARE],
    [`/s/${escaped}/content`, UNKNOWN_SHARE],
  ]
  for (const [path, refusal] of paths) {
    await attack.ask(attack.api, path, 404, refusal === undefined ? {} : { refusal })
  }
  for (const path of [`/e/${embed.token}/`, `/e/${embed.token}/x`, `//e/${embed.token}`, `/%65/${embed.token}`]) {
    await attack.ask(attack.s3, path, 404)
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    await attack.ask(attack.api, `/s/${token}/content`, 405, { method })
    await attack.ask(attack.s3, `/e/${embed.token}`, 405, { method })
  }
  await attack.ask(attack.api, `/s/${token}/content?ticket=x&versionId=y&response-content-type=text/html`, 200)
  attack.assault.ledger.tried('paths and methods around a token', paths.length + 13)
}

/** Nothing but the password unlocks, and a ticket opens one share. */
async function unlock(attack: LinkAttack): Promise<void> {
  const [locked, other] = [
    await attack.make('share', KEY, { password: PASSWORD }),
    await attack.make('share', KEY, { password: PASSWORD }),
  ]
  const content = `/s/${locked.token}/content`
  const required = { refusal: `share.denied: ${targetOf(KEY)} denied` }
  const failed = { refusal: `share.password_failed: ${targetOf(KEY)} denied` }
  const post = { method: 'POST', headers: JSON_BODY }
  const page = await attack.ask(attack.api, `/s/${locked.token}`, 200)
  if (page?.body !== '{"locked":true}') attack.assault.ledger.fault('leaked', 'a locked share', page?.body ?? '')
  const wrong = ['', PASSWORD.slice(1), `${PASSWORD} `, PASSWORD.toUpperCase(), `${PASSWORD}\u0000`]
  for (const password of wrong) {
    const body = JSON.stringify({ password })
    if (password === '') await attack.ask(attack.api, `/s/${locked.token}/unlock`, 400, { ...post, body })
    else await attack.ask(attack.api, `/s/${locked.token}/unlock`, 403, { ...post, body, ...failed })
  }
  const body = JSON.stringify({ password: PASSWORD })
  const answer = await attack.ask(attack.api, `/s/${locked.token}/unlock`, 200, { ...post, body, showsSecret: true })
  const { ticket } = JSON.parse(answer?.body ?? '{"ticket":""}') as { readonly ticket: string }
  attack.assault.canaries.add('a ticket', ticket)
  await attack.ask(attack.api, content, 200, { headers: [['x-share-ticket', ticket]] })
  await attack.ask(attack.api, `/s/${other.token}/content?ticket=${ticket}`, 401, required)
  const tickets = Array.from({ length: ticket.length }, (_, at) => {
    const character = ALPHABET[(ALPHABET.indexOf(ticket[at] ?? '') + 1) % 64]
    return ticket.slice(0, at) + character + ticket.slice(at + 1)
  })
  for (const altered of ['', 'x', '%00', `${ticket}A`, ...tickets]) {
    await attack.ask(attack.api, `${content}?ticket=${altered}`, 401, required)
  }
  await attack.manage('POST', `/shares/${locked.id}/revoke`, 200)
  const gone = { refusal: `share.denied: ${targetOf(KEY)} failure` }
  await attack.ask(attack.api, `${content}?ticket=${ticket}`, 410, gone)
  attack.assault.ledger.tried('passwords and tickets', wrong.length + tickets.length + 6)
}

/** The next request after a revocation is refused, on every connection that was open before. */
async function revoke(attack: LinkAttack): Promise<void> {
  const { arena } = attack.assault
  for (const [kind, port, path] of [
    ['share', arena.apiPort, (token: string) => `/s/${token}/content`],
    ['embed', arena.server.port, (token: string) => `/e/${token}`],
  ] as const) {
    const link = await attack.make(kind, KEY, kind === 'share' ? {} : { allowed_origins: ['*'] })
    const lanes = Array.from({ length: REVOKED_LANES }, () => new Lane(port))
    const askAll = (status: number, refusal?: string) =>
      Promise.all(
        lanes.map((lane) => attack.ask(lane, path(link.token), status, refusal === undefined ? {} : { refusal })),
      )
    await askAll(200)
    await attack.manage('POST', `/${kind}s/${link.id}/revoke`, 200)
    await askAll(410, `${kind}.denied: ${targetOf(KEY)} failure`)
    await attack.manage('DELETE', `/${kind}s/${link.id}`, 204)
    await askAll(404, kind === 'share' ? UNKNOWN_SHARE : UNKNOWN_EMBED)
    for (const lane of lanes) lane.close()
    attack.assault.ledger.tried(`requests after the end of ${idOf({ ...link, id: '' }).trim()}s`, 2 * lanes.length)
  }
}

const ODD_NAMES: readonly string[] = [
  '<script>alert(1)</script>.html',
  '"><img src=x onerror=alert(1)>',
  'a\r\nset-cookie: odd=1',
  'a"; filename="other.exe',
  "a' onload='x",
  '\u202egpj.exe',
  '../../etc/passwd',
  '%0d%0aset-cookie: odd=1',
  '\u0000',
  '\u{1f600}',
]

/** The tags of a page, without what stands between them. */
function tagsOf(html: string): string[] {
  return [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag)
}

/** Names are text in a page and one value in a header, whatever they are. */
async function nameOddly(attack: LinkAttack): Promise<void> {
  const { ledger } = attack.assault
  for (const key of ODD_NAMES) {
    await attack.put(key, 'text/html')
    const { token } = await attack.make('share', key, {})
    const page = await attack.ask(attack.api, `/s/${token}`, 200, { headers: PAGE, showsSecret: true })
    const content = await attack.ask(attack.api, `/s/${token}/content`, 200)
    if (tagsOf(page?.body ?? '').some((tag) => /^<(?:script|img)|\son\w+=/i.test(tag))) {
      ledger.fault('wrong', `a page with the name ${JSON.stringify(key)}`, page?.body ?? '')
    }
    for (const answer of [page, content]) {
      if (answer?.headers.has('set-cookie'))
        ledger.fault('wrong', JSON.stringify(key), `a header of its own: ${answer.head}`)
    }
    const disposition = content?.headers.get('content-disposition') ?? ''
    if (!/^attachment; filename="[^"\\]*"(?:; filename\*=UTF-8''[\w!#$&+.^`|~%-]+)?$/.test(disposition)) {
      ledger.fault('wrong', JSON.stringify(key), disposition)
    }
    if (content?.headers.get('content-type') !== 'application/octet-stream') {
      ledger.fault('wrong', JSON.stringify(key), `a page is sent as one: ${content?.headers.get('content-type')}`)
    }
  }
  ledger.tried('names of shared files', ODD_NAMES.length)
}

/** No origin but that of the list, however like it. */
async function attackOrigins(attack: LinkAttack, { token }: Link): Promise<void> {
  const denied = { refusal: `embed.denied: ${targetOf(KEY)} denied` }
  const origins = [
    'null',
    '*',
    'https://shop.example.evil',
    'http://shop.example',
    'https://shop.example:444',
    'HTTPS://SHOP.EXAMPLE',
  ]
  for (const origin of [...origins, 'https://evil', 'https://shop.example,https://evil', 'https://shop.example/']) {
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await attack.ask(attack.s3, `/e/${token}`, 403, {
        method,
        headers: [['origin', origin]],
        ...denied,
      })
      if (answer?.headers.has('access-control-allow-origin')) attack.assault.ledger.fault('let in', origin, answer.head)
    }
  }
  attack.assault.ledger.tried('origins', 2 * (origins.length + 3))
}

/** The time of a refusal says nothing of how much of a token was right: it is found by a keyed digest of all of it. */
async function timeLookups(attack: LinkAttack, { token }: Link): Promise<string> {
  const tokens = {
    first: `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`,
    last: token.slice(0, -1) + (token.endsWith('A') ? 'E' : 'A'),
  }
  const times = { first: [] as number[], last: [] as number[] }
  for (let round = 0; round < TIMED_ROUNDS; round += 1) {
    for (const which of round % 2 === 0 ? (['first', 'last'] as const) : (['last', 'first'] as const)) {
      const started = performance.now()
      await attack.ask(attack.api, `/s/${tokens[which]}`, 404, { refusal: UNKNOWN_SHARE })
      times[which].push((performance.now() - started) * 1000)
    }
  }
  attack.assault.ledger.tried('timed lookups of tokens', 2 * TIMED_ROUNDS)
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[TIMED_ROUNDS / 2] ?? 0
  const [first, last] = [median(times.first), median(times.last)]
  return `a token of a link wrong in its first or its last character: ${first.toFixed(1)} and ${last.toFixed(1)} µs`
}
