/** What strangers send by links of shares and embeds, and the names and origins that others gave these. */
import { millisecondsOf } from '../../../../engine/brands.ts'
import { acceptsPage } from '../../../../planes/links/accepts-page.ts'
import { contentDisposition, fileNameOf } from '../../../../planes/links/content-disposition.ts'
import { EmbedOrigins } from '../../../../planes/links/embed-origins.ts'
import { SharingError } from '../../../../planes/links/errors.ts'
import { escapeHtml } from '../../../../planes/links/pages.ts'
import { parsePassword } from '../../../../planes/links/parse-password.ts'
import { SHARE_ROUTES } from '../../../../planes/links/sharing-plane.ts'
import { sentType } from '../../../../planes/links/safe-types.ts'
import { ShareTickets } from '../../../../planes/links/share-tickets.ts'
import { routeFinder } from '../../../../planes/links/sharing-route.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

/** The name in `filename*`, its escapes read one after the other (RFC 8187). */
function naiveExtended(value: string): string | undefined {
  const from = value.indexOf("filename*=UTF-8''")
  if (from === -1) return undefined
  const bytes: number[] = []
  for (let at = from + "filename*=UTF-8''".length; at < value.length; at += 1) {
    const isEscape = value[at] === '%'
    bytes.push(isEscape ? Number.parseInt(value.slice(at + 1, at + 3), 16) : value.charCodeAt(at))
    if (isEscape) at += 2
  }
  return Buffer.from(bytes).toString()
}

/** The text of markup without its entities. */
function naiveText(html: string): string {
  return html
    .split('&#39;')
    .join("'")
    .split('&quot;')
    .join('"')
    .split('&gt;')
    .join('>')
    .split('&lt;')
    .join('<')
    .split('&amp;')
    .join('&')
}

function judgeName(input: Buffer): Verdict {
  const given = input.toString()
  const name = fileNameOf('key', given)
  mustHold(Buffer.byteLength(name) <= 255 && name !== '', 'a name of no use')
  for (const character of name) {
    const code = character.codePointAt(0) ?? 0
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0)
    mustHold(!isControl && !'/\\'.includes(character), `${JSON.stringify(character)} in a name`)
  }
  const value = contentDisposition('attachment', name)
  mustHold(/^[\x20-\x7e]+$/.test(value), `not a header: ${JSON.stringify(value)}`)
  const quoted =
    /^attachment; filename="([^"\\]*)"(?:; filename\*=UTF-8''(?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})+)?$/.exec(value)
  mustHold(quoted !== null, value)
  mustBeSame(naiveExtended(value) ?? quoted?.[1], name, 'another name')
  const markup = escapeHtml(given)
  mustHold(!/[<>"']/.test(markup), markup)
  mustBeSame(naiveText(markup), given, 'another text')
  return name === given ? accepted() : refused(value.includes('filename*') ? 'extended' : 'plain')
}

/** The weight of a type: of the ranges that name it, the most exact; of several such, the largest. */
function naiveWeight(
  accept: string,
  names: readonly string[],
  family: string,
): readonly [exact: number, weight: number] {
  let best: readonly [number, number] = [0, 0]
  for (const range of accept.split(',')) {
    const parts = range.split(';')
    const name = (parts[0] ?? '').trim().toLowerCase()
    const exact = names.includes(name) ? 3 : name === family ? 2 : name === '*/*' ? 1 : 0
    if (exact === 0) continue
    const q = parts.slice(1).find((part) => {
      const [left = '', ...right] = part.split('=')
      return right.length > 0 && left.trim().toLowerCase() === 'q'
    })
    const text = q === undefined ? '1' : q.slice(q.indexOf('=') + 1).trim()
    const weight = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0
    if (exact > best[0] || (exact === best[0] && weight > best[1])) best = [exact, weight]
  }
  return best
}

function judgeAccept(input: Buffer): Verdict {
  const accept = input.toString('latin1')
  const [exact, page] = naiveWeight(accept, ['text/html', 'application/xhtml+xml'], 'text/*')
  const [, json] = naiveWeight(accept, ['application/json'], 'application/*')
  const expected = exact > 1 && page > 0 && page >= json
  mustBeSame(acceptsPage(accept), expected, JSON.stringify(accept))
  return expected ? accepted() : refused()
}

/** `<type>` and a line end, and the body. */
function judgePassword(input: Buffer): Verdict {
  const end = input.indexOf('\n')
  const type = input.subarray(0, Math.max(0, end)).toString('latin1')
  const body = input.subarray(end + 1)
  let password: string
  try {
    password = parsePassword(type, body)
  } catch (error) {
    if (!(error instanceof SharingError)) throw error
    const isRight = naivePassword(type, body)
    mustBeSame(isRight, undefined, 'a password was refused')
    return refused(error.code)
  }
  mustBeSame(password, naivePassword(type, body), 'another password')
  return accepted()
}

/** Undefined where there is none. */
function naivePassword(type: string, body: Buffer): string | undefined {
  const text = body.toString()
  if (!Buffer.from(text).equals(body)) return undefined
  const media = (type.split(';')[0] ?? '').trim().toLowerCase()
  const read =
    media === 'application/json'
      ? naiveJson(text)
      : media === 'application/x-www-form-urlencoded'
        ? naiveForm(text)
        : undefined
  const isText = read !== undefined && Buffer.from(read).toString() === read
  return isText && read !== '' && Buffer.byteLength(read) <= 1024 ? read : undefined
}

function naiveJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const password = (value as { password?: unknown } | null)?.password
    const isAlone = typeof value === 'object' && value !== null && Object.keys(value).join() === 'password'
    return isAlone && typeof password === 'string' ? password : undefined
  } catch {
    return undefined
  }
}

/** The URL standard, application/x-www-form-urlencoded parsing. */
function naiveForm(text: string): string | undefined {
  const fields = text.split('&').filter((field) => field !== '')
  if (fields.length !== 1) return undefined
  const [name = '', ...value] = (fields[0] ?? '').split('=')
  return value.length > 0 && formText(name) === 'password' ? formText(value.join('=')) : undefined
}

function formText(text: string): string | undefined {
  const bytes: number[] = []
  const source = Buffer.from(text)
  for (let at = 0; at < source.length; at += 1) {
    const escape = /^%([0-9a-f]{2})/i.exec(source.subarray(at, at + 3).toString('latin1'))
    bytes.push(
      escape === null ? (source[at] === 0x2b ? 0x20 : (source[at] ?? 0)) : Number.parseInt(escape[1] ?? '', 16),
    )
    if (escape !== null) at += 2
  }
  const decoded = Buffer.from(bytes).toString()
  return Buffer.from(decoded).equals(Buffer.from(bytes)) ? decoded : undefined
}

const findShareRoute = routeFinder(SHARE_ROUTES)

function judgePath(input: Buffer): Verdict {
  const path = `/${input.toString('latin1')}`
  const [first, s, token = '', last, ...more] = path.split('/')
  const isForm = first === '' && s === 's' && token !== '' && more.length === 0
  const route = last === undefined ? '/s/{token}' : `/s/{token}/${last}`
  const isKnown = isForm && SHARE_ROUTES.some((one) => one.path === route)
  const found = findShareRoute(path)
  mustBeSame([found?.route.path, found?.token], isKnown ? [route, token] : [undefined, undefined], path)
  return isKnown ? accepted(route) : refused()
}

const TICKETS = new ShareTickets(Buffer.alloc(32, 9))
const NOW = millisecondsOf(Date.UTC(2026, 0, 31))
const PASSWORD = {
  salt: Buffer.alloc(16, 1),
  hash: Buffer.alloc(32, 2),
  cost: 32_768,
  blockSize: 8,
  parallelization: 1,
}
const LOCK = { share: 'share-1', password: PASSWORD }
const TICKET = TICKETS.issue(LOCK, NOW).text

function judgeTicket(input: Buffer): Verdict {
  const text = input.toString('latin1')
  const opens = TICKETS.opens(text, LOCK, NOW)
  mustBeSame(opens, text === TICKET, text)
  return opens ? accepted() : refused()
}

/** One origin of a list for each line. */
function judgeOrigins(input: Buffer): Verdict {
  const list = input.toString('latin1').split('\n')
  const sources = new EmbedOrigins(list).frameAncestors
  if (sources === "'none'") return refused()
  for (const source of sources.split(' ')) {
    mustHold(list.includes(source), `${source} is not in the list`)
    mustHold(source === '*' || /^https?:\/\/[^/]+$/.test(source), source)
  }
  mustHold(/^[a-z0-9:/._ *[\]-]+$/.test(sources), `${JSON.stringify(sources)} in a policy`)
  return accepted()
}

function judgeType(input: Buffer): Verdict {
  const { type, isSafe } = sentType(input.toString('latin1'))
  mustHold(/^[a-z]+\/[a-z0-9.+-]+(?:; charset=[a-z0-9-]+)?$/.test(type), type)
  mustHold(!/html|xml|svg|script|css|pdf/.test(type), `${type} can run`)
  mustHold(isSafe || type === 'application/octet-stream', type)
  return isSafe ? accepted(type) : refused()
}

const NAME_BYTES = 2000

export const SHARING_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'shared-name',
    seeds: ['cat.jpg', 'Käter "Tom".txt', `${'ä'.repeat(200)}.txt`],
    words: ['"', '\\', '%', '\r\n', '\u202e', '..', '/', "'", '<', '&amp;', '\u{1f600}'],
    bytesMaximum: NAME_BYTES,
    judge: judgeName,
  },
  {
    name: 'shared-accept',
    seeds: [
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'text/*;q=0.5',
      'text/html;level=1;q=1.000',
    ],
    words: ['text/html', 'application/json', '*/*', ';q=', '0.5', ',', 'application/*', ' '],
    judge: judgeAccept,
  },
  {
    name: 'shared-password',
    seeds: ['application/json\n{"password":"open"}', 'application/x-www-form-urlencoded\npassword=a+b%20%C3%A4'],
    words: ['"password"', 'password=', '&', '%', '+', '\\ud800', '\\u0000', '{', '}', ';charset=utf-8'],
    judge: judgePassword,
  },
  {
    name: 'shared-path',
    seeds: [`s/${'A'.repeat(43)}`, `s/${'A'.repeat(43)}/content`, `s/${'A'.repeat(43)}/unlock`],
    words: ['/', 's', 'content', 'unlock', '..', '%2f'],
    judge: judgePath,
  },
  { name: 'shared-ticket', seeds: [TICKET], bytesMaximum: 200, judge: judgeTicket },
  {
    name: 'embed-origins',
    seeds: ['https://a.example', 'http://localhost:8080\nhttps://[::1]:443', '*'],
    words: ['https://', 'http://', ';', ' ', '*', ':80', '\r\n', "'unsafe-inline'", '.'],
    judge: judgeOrigins,
  },
  {
    name: 'shared-type',
    seeds: ['image/png', 'text/plain; charset=utf-8', 'video/mp4'],
    words: ['text/html', 'image/svg+xml', ';', 'charset=', 'utf-7', '"', ','],
    bytesMaximum: NAME_BYTES,
    judge: judgeType,
  },
]
