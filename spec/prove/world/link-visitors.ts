/** Visitors of shares and embeds, and of the console: people without credentials, and what each link must come to. */
import { sharingErrors, type SharingErrorCode } from '../../../planes/links/errors.ts'
import { sameText } from '../../model/operations/buckets.ts'
import { bearer } from '../../support/api-client.ts'
import { SYSTEM_TOKEN } from '../../support/management-server.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { type KnownEmbed, type KnownShare, type LinkLedger, refusalOf, targetOfLink } from './link-ledger.ts'
import type { Chance } from './step-by-chance.ts'

/** Passwords of one share that an address may try in a burst. */
const TRIES_MAXIMUM = 10
const RUSH = 4

export interface Visit extends Chance {
  readonly ledger: LinkLedger
}

interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What an answer must be: a code, or a status and whatever else. */
type Expected = SharingErrorCode | { readonly status: number; check?(answer: WireAnswer): string | undefined }

function ask({ world, model }: Visit, door: 'console' | 'embeds', asked: Asked): Promise<WireAnswer> {
  const { method = 'GET', path, headers = {}, body = '' } = asked
  model.tally.add(door === 'console' ? 'visitor of a share' : 'visitor of an embed', 'done')
  return world.server[door].send(method, path, { headers: Object.entries(headers), body, sign: false })
}

/** @throws Error when an answer is not what it must be */
function require({ model }: Visit, { method = 'GET', path }: Asked, expected: Expected, answer: WireAnswer): void {
  const { status, text } = answer
  // A token opens a link: it is not told.
  const shown = `${method} ${path.replace(/[\w-]{20,}/, '{token}')}`
  model.log.push(`${shown}: ${status}`)
  const isCode = typeof expected === 'string'
  const wanted = isCode ? sharingErrors[expected].status : expected.status
  const isNamed = !isCode || method === 'HEAD' || text.includes(`"code":"${expected}"`)
  const problem = isCode ? undefined : expected.check?.(answer)
  if (status === wanted && isNamed && problem === undefined) return
  throw new Error(`${shown}: ${status} ${problem ?? text.slice(0, 300)} instead of ${wanted} ${isCode ? expected : ''}`)
}

async function visit(each: Visit, door: 'console' | 'embeds', asked: Asked, expected: Expected): Promise<WireAnswer> {
  const answer = await ask(each, door, asked)
  require(each, asked, expected, answer)
  return answer
}

function refusal({ model }: Visit, link: KnownShare | KnownEmbed): SharingErrorCode | undefined {
  return refusalOf(model, link) as SharingErrorCode | undefined
}

function bytesOf({ model }: Visit, link: KnownShare | KnownEmbed): Buffer {
  return targetOfLink(model, link)?.payload?.bytes ?? Buffer.alloc(0)
}

function isBytes(bytes: Buffer): (answer: WireAnswer) => string | undefined {
  return ({ body }) =>
    body.equals(bytes) ? undefined : `${body.length} bytes that are not the ${bytes.length} expected`
}

/** A ticket for the password of a share; undefined when there is none to be had. */
async function ticketOf(each: Visit, share: KnownShare, password: string): Promise<string | undefined> {
  const asked: Asked = {
    method: 'POST',
    path: `/s/${share.token}/unlock`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password }),
  }
  const answer = await ask(each, 'console', asked)
  const refused = refusal(each, share) ?? (share.password === undefined ? 'INVALID_REQUEST' : undefined)
  const before = refused === undefined ? each.ledger.tried(share, each.world.host.lives) : 0
  if (answer.status === 429 && before >= TRIES_MAXIMUM) return undefined
  const isRight = password === share.password
  require(each, asked, refused ?? (isRight ? { status: 200 } : 'SHARE_PASSWORD_WRONG'), answer)
  return answer.status === 200 ? (JSON.parse(answer.text) as { ticket: string }).ticket : undefined
}

/** The description of a share, its password, and its bytes in one of several ways. */
export async function visitShare(each: Visit, share: KnownShare): Promise<void> {
  const { random } = each
  await describe(each, share)
  if (random.below(3) === 0) await ticketOf(each, share, 'not the password')
  const isOpen = share.password === undefined
  const ticket = isOpen && random.below(4) > 0 ? undefined : await ticketOf(each, share, share.password ?? 'whatever')
  const path = `/s/${share.token}/content`
  if (!isOpen && ticket === undefined) {
    await visit(each, 'console', { path }, refusal(each, share) ?? 'SHARE_PASSWORD_REQUIRED')
    return
  }
  const headers = ticket === undefined ? {} : { 'x-share-ticket': ticket }
  const { etag = '', size = 0 } = targetOfLink(each.model, share) ?? {}
  const way = random.of(['whole', 'whole', 'head', 'range', 'outside', 'known', 'other'] as const)
  const bytes = bytesOf(each, share)
  const ways: Readonly<Record<typeof way, readonly [Asked, Expected]>> = {
    whole: [
      { path, headers },
      { status: 200, check: isBytes(bytes) },
    ],
    head: [{ method: 'HEAD', path, headers }, { status: 200 }],
    range:
      size === 0
        ? [{ path, headers }, { status: 200 }]
        : [
            { path, headers: { ...headers, range: 'bytes=0-0' } },
            { status: 206, check: isBytes(bytes.subarray(0, 1)) },
          ],
    outside: [{ path, headers: { ...headers, range: `bytes=${size}-` } }, 'RANGE_NOT_SATISFIABLE'],
    known: [{ path, headers: { ...headers, 'if-none-match': `"${etag}"` } }, { status: 304 }],
    other: [{ path, headers: { ...headers, 'if-match': '"another"' } }, 'PRECONDITION_FAILED'],
  }
  const [asked, expected] = ways[way]
  const { status } = await visit(each, 'console', asked, refusal(each, share) ?? expected)
  if (asked.method === undefined && (status === 200 || status === 206)) count(share)
}

function count(share: KnownShare): void {
  if (share.maximumDownloads !== undefined) share.downloads += 1
}

async function describe(each: Visit, share: KnownShare): Promise<void> {
  const { token, password, maximumDownloads, downloads } = share
  const target = targetOfLink(each.model, share)
  const locked = password !== undefined
  const check = ({ text }: WireAnswer) => {
    const shown = JSON.parse(text) as Readonly<Record<string, unknown>>
    const left = maximumDownloads === undefined ? null : maximumDownloads - downloads
    const wanted = locked ? [true] : [false, target?.size, target?.etag, left]
    const { size, etag, downloads_left } = shown
    return sameText(
      locked ? [shown['locked'], ...Object.keys(shown).slice(1)] : [shown['locked'], size, etag, downloads_left],
      wanted,
    )
  }
  await visit(each, 'console', { path: `/s/${token}` }, refusal(each, share) ?? { status: 200, check })
  const page: Asked = { path: `/s/${token}`, headers: { accept: 'text/html' } }
  const refused = refusal(each, share)
  await visit(each, 'console', page, {
    status: refused === undefined ? 200 : sharingErrors[refused].status,
    check: isPage,
  })
}

/** Several people fetch a share at once: no more than it has downloads left. */
export async function rush(each: Visit, share: KnownShare): Promise<void> {
  const asked: Asked = { path: `/s/${share.token}/content` }
  const refused = refusal(each, share) ?? (share.password === undefined ? undefined : 'SHARE_PASSWORD_REQUIRED')
  const answers = await Promise.all(Array.from({ length: RUSH }, () => ask(each, 'console', asked)))
  const left = (share.maximumDownloads ?? Number.POSITIVE_INFINITY) - share.downloads
  const bytes = bytesOf(each, share)
  for (const answer of answers.toSorted((one, other) => one.status - other.status)) {
    const isLeft = (share.maximumDownloads ?? Number.POSITIVE_INFINITY) > share.downloads
    const expected = refused ?? (isLeft ? { status: 200, check: isBytes(bytes) } : 'SHARE_EXHAUSTED')
    require(each, asked, expected, answer)
    if (refused === undefined && isLeft) count(share)
  }
  each.model.log.push(`${RUSH} at once for a share with ${left} downloads left`)
}

/** Somebody guesses passwords: none opens the share, and after some no more are looked at. */
export async function guess(each: Visit, share: KnownShare): Promise<void> {
  for (let attempt = 0; attempt < TRIES_MAXIMUM + 3; attempt += 1) await ticketOf(each, share, `guess ${attempt}`)
}

/** The bytes of an embed, for pages of one origin or another, and the question of a browser before it. */
export async function visitEmbed(each: Visit, embed: KnownEmbed): Promise<void> {
  const path = `/e/${embed.token}`
  const origin = each.random.of([undefined, 'https://one.example', 'https://other.example'])
  const headers = origin === undefined ? {} : { origin }
  const isAllowed = origin === undefined || embed.origins.includes('*') || embed.origins.includes(origin)
  const refused = refusal(each, embed) ?? (isAllowed ? undefined : 'EMBED_ORIGIN_DENIED')
  const allowed = embed.origins.includes('*') ? '*' : origin
  const check = (answer: WireAnswer) =>
    isBytes(bytesOf(each, embed))(answer) ?? sameText(answer.headers['access-control-allow-origin'], allowed)
  await visit(each, 'embeds', { path, headers }, refused ?? { status: 200, check })
  await visit(each, 'embeds', { method: 'OPTIONS', path, headers }, refused ?? { status: 204 })
}

/** Addresses that lead nowhere, and requests that no route has. */
export async function stray(each: Visit): Promise<void> {
  const token = 'x'.repeat(43)
  const { shares } = each.ledger
  const shared = shares.find((share) => share.password !== undefined && refusal(each, share) === undefined)
  const unlock = { method: 'POST', path: `/s/${shared?.token}/unlock` }
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({ password: 'p'.repeat(20_000) })
  const asked: (readonly ['console' | 'embeds', Asked, Expected])[] = [
    ['console', { path: `/s/${token}` }, 'SHARE_NOT_FOUND'],
    ['console', { path: `/s/${token}/content` }, 'SHARE_NOT_FOUND'],
    ['console', { path: `/s/${token}/elsewhere` }, 'NOT_FOUND'],
    ['console', { method: 'DELETE', path: `/s/${token}` }, 'METHOD_NOT_ALLOWED'],
    ['embeds', { path: `/e/${token}` }, 'EMBED_NOT_FOUND'],
    ['embeds', { path: `/e/${token}/more` }, 'NOT_FOUND'],
    ...(shared === undefined
      ? []
      : ([
          ['console', { ...unlock, body: 'password' }, 'UNSUPPORTED_TYPE'],
          ['console', { ...unlock, headers: json, body: '{"password":""}' }, 'INVALID_REQUEST'],
          ['console', { ...unlock, headers: json, body }, 'BODY_TOO_LARGE'],
        ] as const)),
  ]
  for (let number = 0; number < 3; number += 1) await visit(each, ...each.random.of(asked))
}

function isPage({ headers }: WireAnswer): string | undefined {
  return sameText(String(headers['content-type']).split(';')[0], 'text/html')
}

function isZipped({ headers }: WireAnswer): string | undefined {
  return sameText(headers['content-encoding'], 'gzip')
}

function isAdministrator({ text }: WireAnswer): string | undefined {
  return text.includes('"system-administrator"') ? undefined : text
}

/** The files of the console, which anybody may have, and its session, which only a credential opens. */
export async function openConsole(each: Visit): Promise<void> {
  const page = await visit(each, 'console', { path: '/' }, { status: 200 })
  const script = /src="\.(\/[^"]+\.js)"/.exec(page.text)?.[1]
  if (script === undefined) throw new Error('the page of the console names no script')
  await visit(each, 'console', { path: script }, { status: 200 })
  await visit(
    each,
    'console',
    { path: script, headers: { 'accept-encoding': 'gzip' } },
    { status: 200, check: isZipped },
  )
  await visit(each, 'console', { path: '/nothing' }, { status: 404 })
  await visit(each, 'console', { method: 'PUT', path: '/' }, { status: 405 })
  const session = '/api/v1/auth/session'
  const authorization = bearer(SYSTEM_TOKEN)
  await visit(each, 'console', { path: session, headers: { authorization } }, { status: 200, check: isAdministrator })
  await visit(each, 'console', { path: session, headers: { authorization: 'Bearer nobody' } }, { status: 401 })
}
