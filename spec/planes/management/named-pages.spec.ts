/**
 * Pages of buckets, service accounts, policies and management tokens over the wire.
 * Proves: API-BUC-01, API-ACC-01, API-POL-01.
 */
import tap, { test } from 'tap'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

interface Entry {
  readonly name: string
  readonly id?: string
}

type Page = Readonly<Record<string, unknown>> & { readonly next_after: string | null }

const ALLOW = [{ effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:*'] }]
/** They hold any character. */
const DIFFERENT = ['a', '\u{1f600} "q"', 'é', 'Z']
/** Names of policies and tokens, which have ids, may repeat. */
const NAMES = ['twice', 'twice', ...DIFFERENT, 'twice']
const LISTS = {
  '/buckets': { member: 'buckets', names: ['kept', 'b-1', 'b-3', 'b-2', 'zz-5'], body: (name: string) => ({ name }) },
  '/service-accounts': { member: 'service_accounts', names: DIFFERENT, body: (name: string) => ({ name }) },
  '/policies': { member: 'policies', names: NAMES, body: (name: string) => ({ name, statements: ALLOW }) },
  '/management-tokens': {
    member: 'management_tokens',
    names: NAMES,
    body: (name: string) => ({ name, role: 'auditor' }),
  },
} as const

for (const [path, { names, body }] of Object.entries(LISTS)) {
  for (const name of names) await api.get('POST', path, body(name))
}

function placeOf({ name, id = '' }: Entry): readonly [string, string] {
  return [name, id]
}

function byPlace(left: Entry, right: Entry): number {
  const [one, other] = [placeOf(left), placeOf(right)]
  if (one[0] !== other[0]) return one[0] < other[0] ? -1 : 1
  return one[1] < other[1] ? -1 : 1
}

for (const [path, { member, names }] of Object.entries(LISTS)) {
  const pageAt = (query: Readonly<Record<string, string>>) =>
    api.get<Page>('GET', `${path}?${new URLSearchParams(query)}`)
  const entriesOf = (page: Page) => page[member] as readonly Entry[]

  test(`${path}: pages of any size hold each entry once, in the order of the whole list`, async (t) => {
    const whole = await api.get<Page>('GET', path)
    t.equal(whole.next_after, null)
    t.same(entriesOf(whole), entriesOf(whole).toSorted(byPlace))
    t.same(
      entriesOf(whole).map(({ name }) => name),
      names.toSorted(),
    )
    for (const limit of [1, 2, 3, names.length - 1, names.length, 1000]) {
      const read: Entry[] = []
      let after: string | null = null
      do {
        const page: Page = await pageAt({ limit: String(limit), ...(after === null ? {} : { after }) })
        t.ok(entriesOf(page).length === limit || page.next_after === null)
        read.push(...entriesOf(page))
        after = page.next_after
      } while (after !== null)
      t.same(read, entriesOf(whole), `${limit} at a time`)
    }
  })

  test(`${path}: bounds and cursors`, async (t) => {
    const { next_after: after } = await pageAt({ limit: '2' })
    if (after === null) throw new Error('one page only')
    t.match(after, /^[\w-]+$/, 'a word')
    const wrong = [
      '',
      'x',
      `${after}=`,
      `${after}.`,
      after.slice(1),
      Buffer.from('["a","b","c"]').toString('base64url'),
    ]
    for (const text of [
      ...wrong,
      Buffer.from('["a",1]').toString('base64url'),
      Buffer.from('{}').toString('base64url'),
    ]) {
      const answer = await api.call('GET', `${path}?${new URLSearchParams({ after: text })}`)
      t.match(answer, { status: 400, code: 'INVALID_REQUEST' }, text)
    }
    for (const limit of ['0', '1001', '-1', 'x', '']) {
      t.match(await api.call('GET', `${path}?limit=${limit}`), { status: 400, code: 'INVALID_REQUEST' }, limit)
    }
  })
}

test('a page goes on after an entry that is gone, and with those that came after it', async (t) => {
  const first = await api.get<Page>('GET', '/buckets?limit=2')
  t.match(first, { buckets: [{ name: 'b-1' }, { name: 'b-2' }] })
  await api.call('DELETE', '/buckets/b-2')
  await api.get('POST', '/buckets', { name: 'b-25' })
  await api.get('POST', '/buckets', { name: 'a-before' })
  const rest = await api.get<{ buckets: readonly Entry[] }>('GET', `/buckets?after=${first.next_after}`)
  t.same(
    rest.buckets.map(({ name }) => name),
    ['b-25', 'b-3', 'kept', 'zz-5'],
  )
})

test('buckets by prefix, with pages among those', async (t) => {
  t.match(await api.get<Page>('GET', '/buckets?prefix=b-&limit=2'), { buckets: [{ name: 'b-1' }, { name: 'b-25' }] })
  const first = await api.get<Page>('GET', '/buckets?prefix=b-2&limit=1')
  t.same(first.next_after, null)
  const second = await api.get<Page>('GET', '/buckets?prefix=b-&limit=1')
  const rest = await api.get<Page>('GET', `/buckets?prefix=b-&after=${second.next_after}`)
  t.match(rest, { buckets: [{ name: 'b-25' }, { name: 'b-3' }], next_after: null })
  t.same(await api.get<Page>('GET', '/buckets?prefix=nothing'), { buckets: [], next_after: null })
})

test('a page has about a mebibyte at most', async (t) => {
  const resources = Array.from({ length: 100 }, (_, index) => `bucket:${'b'.repeat(60)}-${index}/${'k'.repeat(80)}`)
  const statements = [{ effect: 'deny', actions: ['s3:GetObject'], resources }]
  const names = Array.from({ length: 80 }, (_, index) => `large ${index}`)
  await Promise.all(names.map((name) => api.get('POST', '/policies', { name, statements })))
  const first = await api.call('GET', '/policies')
  t.ok(first.text.length > 1024 ** 2 && first.text.length < 1.1 * 1024 ** 2, `${first.text.length}`)
  const { next_after: after, policies } = first.json as unknown as Page & { policies: readonly Entry[] }
  const rest = await api.get<{ policies: readonly Entry[] }>('GET', `/policies?after=${after}`)
  t.equal(policies.length + rest.policies.length, NAMES.length + 80)
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})
