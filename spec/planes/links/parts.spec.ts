/** The parts of public delivery: names of files, types, pages, attempts. */
import { test } from 'tap'
import { BusyError } from '../../../engine/shares/shares.ts'
import { PasswordHashing } from '../../../planes/exchange/password-hashing.ts'
import { acceptsPage } from '../../../planes/links/accepts-page.ts'
import { networkOf } from '../../../planes/http/limits/network-of.ts'
import {
  ADDRESS_LIMIT,
  AttemptLimits,
  RESERVE_LIMIT,
  SHARE_LIMIT,
  VISITOR_LIMIT,
} from '../../../planes/links/attempt-limits.ts'
import { contentDisposition, fileNameOf } from '../../../planes/links/content-disposition.ts'
import { parsePassword } from '../../../planes/links/parse-password.ts'
import { escapeHtml, filePage } from '../../../planes/links/pages.ts'
import { sentType } from '../../../planes/links/safe-types.ts'

test('names of files', (t) => {
  for (const [key, name, wanted] of [
    ['a/b/cat.jpg', undefined, 'cat.jpg'],
    ['folder/', undefined, 'folder'],
    ['a', 'given.txt', 'given.txt'],
    ['/', undefined, 'download'],
    ['..', undefined, 'download'],
    ['.bashrc', undefined, 'bashrc'],
    ['x', '../../etc/passwd', 'etcpasswd'],
    ['x', 'a\r\nSet-Cookie: b', 'aSet-Cookie: b'],
    ['x', 'report\u202Egpj.exe', 'reportgpj.exe'],
    ['x', 'a\u0000b\u007fc\u0085d', 'abcd'],
    ['x', `${'ä'.repeat(200)}.txt`, `${'ä'.repeat(125)}.txt`],
    ['x', '\ud800', 'download'],
    ['x', ' . ', 'download'],
  ] as const) {
    const found = fileNameOf(key, name)
    t.equal(found, wanted)
    t.ok(Buffer.byteLength(found) <= 255)
  }
  t.end()
})

test('names in headers (RFC 6266, RFC 8187)', (t) => {
  t.equal(contentDisposition('attachment', 'a b.txt'), 'attachment; filename="a b.txt"')
  t.equal(contentDisposition('inline', '€.txt'), `inline; filename="_.txt"; filename*=UTF-8''%E2%82%AC.txt`)
  t.equal(
    contentDisposition('attachment', `a"b\\c%41'(1)*`),
    `attachment; filename="a_b_c_41'(1)*"; filename*=UTF-8''a%22b%5Cc%2541%27%281%29%2A`,
  )
  t.end()
})

test('types', (t) => {
  t.same(sentType('image/png'), { type: 'image/png', isSafe: true })
  t.same(sentType(' IMAGE/PNG ; charset=x'), { type: 'image/png', isSafe: true })
  t.same(sentType('text/plain'), { type: 'text/plain; charset=utf-8', isSafe: true })
  t.same(sentType('text/plain;charset=ISO-8859-1'), { type: 'text/plain; charset=iso-8859-1', isSafe: true })
  t.same(sentType('text/plain; charset=utf-7'), { type: 'text/plain; charset=utf-8', isSafe: true })
  for (const type of [undefined, '', 'text/html', 'image/svg+xml', 'image/png,text/html', 'text/plain, text/html']) {
    t.same(sentType(type), { type: 'application/octet-stream', isSafe: false }, String(type))
  }
  t.end()
})

function ofForm(field: string): string {
  return parsePassword('application/x-www-form-urlencoded', Buffer.from(`password=${field}`))
}

test('a form is read to the byte, also with a lone escape beside a character of two bytes', (t) => {
  t.equal(ofForm('a+b%20%0\u0130'), 'a b %0\u0130')
  t.equal(ofForm('%C3%A4%2B%26'), 'ä+&')
  t.end()
})

test('who wants a page', (t) => {
  for (const [accept, wanted] of [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['text/html', true],
    ['TEXT/HTML', true],
    ['text/*', true],
    ['text/html;q=0.5, application/json;q=0.5', true],
    ['text/html;q=0.4, application/json;q=0.5', false],
    ['text/html;q=0', false],
    ['text/html;q=0, text/*', false],
    ['text/html;q=2', false],
    ['text/html;level=1;q=0.2, */*;q=0.1', true],
    ['*/*', false],
    ['application/json', false],
    ['application/*, text/html;q=0.9', false],
    ['', false],
    [undefined, false],
    [',;,;q=1', false],
  ] as const) {
    t.equal(acceptsPage(accept), wanted, String(accept))
  }
  t.end()
})

test('texts of others are no markup', (t) => {
  t.equal(escapeHtml(`<b a="c" d='e'>&`), '&lt;b a=&quot;c&quot; d=&#39;e&#39;&gt;&amp;')
  const evil = '<script>alert(1)</script>" onload="x'
  const shown = { bytes: 1536, type: evil, expires: '2026-02-28T12:34:56.000000Z', downloadsLeft: 3, download: evil }
  const page = filePage({ name: evil, ...shown })
  t.notMatch(page, '<script')
  t.notMatch(page, '" onload')
  t.match(page, '1.5 KiB (1,536 bytes)')
  t.match(page, '>28 February 2026, 12:34 UTC</time>')
  t.match(filePage({ name: 'a', ...shown, bytes: 1 }), '>1 byte<')
  t.end()
})

/** How many of so many attempts are let in. */
function triesOf(limits: AttemptLimits, share: string, address: string, count: number): number {
  return Array.from({ length: count }, () => limits.take(share, address)).filter((seconds) => seconds === 0).length
}

test('attempts of an address, with one share and with all', (t) => {
  let now = 0
  const limits = new AttemptLimits(() => now)
  t.equal(triesOf(limits, 's', '192.0.2.1', 100), VISITOR_LIMIT.saved)
  t.equal(triesOf(limits, 'other', '192.0.2.1', 3), 3, 'who shares the address is not locked out of other shares')
  t.equal(limits.take('s', '192.0.2.1'), VISITOR_LIMIT.millisecondsEach / 1000)
  now += VISITOR_LIMIT.millisecondsEach - 1
  t.equal(triesOf(limits, 's', '192.0.2.1', 100), 0)
  now += 1
  t.equal(triesOf(limits, 's', '192.0.2.1', 100), 1)
  now += 3_600_000
  t.equal(triesOf(limits, 's', '192.0.2.1', 100), VISITOR_LIMIT.saved, 'no more than that are saved up')
  let all = 0
  for (let share = 0; share < 100; share += 1) all += triesOf(limits, `share-${share}`, '192.0.2.9', 10)
  t.equal(all, ADDRESS_LIMIT.saved, 'of one address with many shares')
  t.end()
})

test('guesses of many addresses at one share have a bound, also over time', (t) => {
  let now = 0
  const limits = new AttemptLimits(() => now)
  let all = 0
  for (let host = 0; host < 1000; host += 1) all += triesOf(limits, 't', `198.51.100.${host}`, 10)
  t.equal(all, SHARE_LIMIT.saved + RESERVE_LIMIT.saved)
  for (let minute = 0; minute < 60; minute += 1) {
    now += 60_000
    for (let host = 0; host < 20; host += 1) all += triesOf(limits, 't', `198.51.${minute}.${host}`, 10)
  }
  t.equal(all, SHARE_LIMIT.saved + RESERVE_LIMIT.saved + 60 * 12)
  t.end()
})

test('a stranger with some addresses keeps neither a new visitor nor a known one from a share', (t) => {
  let now = 0
  const limits = new AttemptLimits(() => now)
  t.equal(limits.take('s', '192.0.2.7'), 0)
  limits.unlocked('s', '192.0.2.7')
  for (let minute = 0; minute < 60; minute += 1) {
    for (let host = 0; host < 8; host += 1) triesOf(limits, 's', `198.51.100.${host}`, 20)
    t.equal(limits.take('s', `203.0.113.${minute}`), 0, 'somebody new')
    t.equal(limits.take('s', '192.0.2.7'), 0, 'an address that has unlocked it')
    now += 60_000
  }
  t.equal(triesOf(limits, 's', '192.0.2.7', 100), VISITOR_LIMIT.saved, 'which cannot have the server hash for ever')
  t.end()
})

test('an address of IPv6 is its network', (t) => {
  t.equal(networkOf('192.0.2.1'), '192.0.2.1')
  t.equal(networkOf('2001:db8::1'), '2001:db8:0:0')
  t.equal(networkOf('2001:db8:0:0:1:2:3:4'), '2001:db8:0:0')
  t.equal(networkOf('::1'), '0:0:0:0')
  t.equal(networkOf('2001:db8:1:2::'), '2001:db8:1:2')
  t.equal(networkOf('fe80::1:2:3:4'), 'fe80:0:0:0')
  const limits = new AttemptLimits(() => 0)
  let allowed = 0
  for (let host = 1; host < 199; host += 1) if (limits.take(`share-${host}`, `2001:db8::${host}`) === 0) allowed += 1
  t.equal(allowed, ADDRESS_LIMIT.saved)
  t.end()
})

test('so many passwords wait to be hashed, and no more', async (t) => {
  const hashing = new PasswordHashing(Buffer.alloc(32, 1))
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => hashing.hash('a', 'greedy')))
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  t.equal(refused.length, 4)
  t.ok(refused.every(({ reason }) => reason instanceof BusyError))
  t.equal(await hashing.matches('a', await hashing.hash('a', 'b'), 'b'), true, 'and afterwards there is room again')
})

test('who hashes few passwords goes before who hashes many, and is not refused for them', async (t) => {
  const hashing = new PasswordHashing(Buffer.alloc(32, 1))
  let done = 0
  const greedy = Array.from({ length: 16 }, () =>
    hashing.hash('a', 'greedy').then(
      () => (done += 1),
      (error: unknown) => error,
    ),
  )
  await hashing.hash('b', 'modest')
  t.ok(done <= 1, `${done} of the greedy owner were before it`)
  const refused = (await Promise.all(greedy)).filter((outcome) => outcome instanceof BusyError)
  t.equal(refused.length, 1, 'the newest of the greedy owner made room')
})

test('so many addresses that not all are counted one by one', (t) => {
  let now = 0
  const limits = new AttemptLimits(() => now)
  let allowed = 0
  for (let host = 0; host < 20_000; host += 1) if (limits.take(`share-${host}`, `host-${host}`) === 0) allowed += 1
  t.equal(allowed, 10_000 + VISITOR_LIMIT.saved, 'those beyond share one count')
  now += VISITOR_LIMIT.millisecondsEach * 2
  t.equal(limits.take('share-new', 'host-new'), 0, 'and are forgotten when they have all attempts again')
  t.end()
})
