/** Every screen for each role: nothing hinders anybody, the policy is never broken, nothing is wider than a phone. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

const EVERYONE = ['system-administrator', 'storage-administrator', 'auditor'] as const
const READERS = ['system-administrator', 'auditor'] as const
type Role = (typeof EVERYONE)[number]

interface Visit {
  readonly pattern: string
  /** What is after `#/`, several of them where a screen has more than one face. */
  readonly addresses: readonly string[]
  readonly roles: readonly Role[]
}

interface View {
  readonly colorScheme: 'light' | 'dark'
  readonly viewport: { readonly width: number; readonly height: number }
}

/** A window as a desk has it, and one as a phone; each with the colours of the other's night. */
const DESK: View = { colorScheme: 'light', viewport: { width: 1280, height: 800 } }
const PHONE: View = { colorScheme: 'dark', viewport: { width: 320, height: 640 } }

/** Fills a store, and says where its screens are. */
async function visits({ api, put }: OpenConsole): Promise<readonly Visit[]> {
  await api.get('POST', '/buckets', { name: 'logs', object_lock: true })
  await api.get('POST', '/buckets', { name: 'empty' })
  await api.get('POST', '/buckets/logs/lifecycle', { prefix: 'tmp/', expiration: 7 })
  await api.get('PUT', '/buckets/logs/quota', {
    quota: { bytes: { mode: 'limit', bytes: 1_000_000 }, objects: { mode: 'limit', objects: 90 } },
  })
  await api.get('POST', '/webhooks', { target_url: 'https://hooks.example/store', event_types: ['object.created'] })
  for (const key of ['note.txt', 'note.txt', 'a/b', '<b>', 'x'.repeat(1000), 'gone']) await put('logs', key, key)
  await api.send('DELETE', '/api/v1/buckets/logs/object/gone')
  await api.get('POST', '/buckets/logs/object-shares/note.txt', { expires_in_seconds: 3600, maximum_downloads: 3 })
  const { account } = await api.get<{ account: { id: string } }>('POST', '/service-accounts', { name: 'backup' })
  const statements = [{ effect: 'allow', actions: ['s3:Get*', 's3:ListBucket'], resources: ['bucket:logs/*'] }]
  const policy = await api.get<{ id: string }>('POST', '/policies', { name: 'read', statements })
  await api.send('PUT', `/api/v1/policies/${policy.id}/bindings/${account.id}`)
  const objects = 'buckets/logs/objects'
  return [
    { pattern: 'overview', addresses: ['overview'], roles: EVERYONE },
    { pattern: 'buckets', addresses: ['buckets'], roles: EVERYONE },
    { pattern: 'buckets/:bucket', addresses: ['buckets/logs', 'buckets/empty', 'buckets/none'], roles: EVERYONE },
    {
      pattern: 'buckets/:bucket/objects',
      addresses: [
        objects,
        `${objects}?versions=yes`,
        `${objects}?key=note.txt`,
        `${objects}?key=gone`,
        'buckets/empty/objects',
      ],
      roles: EVERYONE,
    },
    { pattern: 'webhooks', addresses: ['webhooks'], roles: EVERYONE },
    { pattern: 'access', addresses: ['access'], roles: READERS },
    { pattern: 'access/accounts/:account', addresses: [`access/accounts/${account.id}`], roles: READERS },
    { pattern: 'access/policies', addresses: ['access/policies'], roles: READERS },
    { pattern: 'access/policies/new', addresses: ['access/policies/new'], roles: ['system-administrator'] },
    { pattern: 'access/policies/:policy', addresses: [`access/policies/${policy.id}`], roles: READERS },
    { pattern: 'access/tokens', addresses: ['access/tokens'], roles: ['system-administrator'] },
    { pattern: 'audit', addresses: ['audit', 'audit?bucket=logs', 'audit?orphans=1'], roles: EVERYONE },
    { pattern: 'evidence', addresses: ['evidence'], roles: EVERYONE },
    { pattern: 'evidence/retention', addresses: ['evidence/retention'], roles: EVERYONE },
    { pattern: 'evidence/bundle', addresses: ['evidence/bundle?bucket=logs&key=note.txt'], roles: EVERYONE },
    { pattern: 'evidence/verify', addresses: ['evidence/verify'], roles: EVERYONE },
  ]
}

/**
 * Goes through the screens of a role; each ends with nothing that is still loaded. An auditor comes to each by phone and goes on
 * at a desk, others the other way round.
 */
async function walk(t: Test, { open, tokens }: OpenConsole, list: readonly Visit[], role: Role): Promise<void> {
  const [first, second] = role === 'auditor' ? [PHONE, DESK] : [DESK, PHONE]
  const { page, complaints } = await open(t, first)
  await signIn(page, tokens[role])
  for (const { addresses, roles } of list) {
    for (const address of addresses) {
      await page.setViewportSize(first.viewport)
      await page.emulateMedia({ colorScheme: first.colorScheme })
      await goTo(page, address)
      const refused = page.getByText('Page not found')
      await page.locator('main').locator('h1, h2, [role=alert]').first().or(refused).first().waitFor()
      await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' })
      // For an auditor "new" is the id of a policy, which there is not.
      const sees = address === 'access/policies/new' ? role !== 'storage-administrator' : roles.includes(role)
      t.equal(await refused.count(), sees ? 0 : 1, `${role}, ${address}`)
      await examine(t, page, first, `${role}, ${address}`)
      await page.setViewportSize(second.viewport)
      await page.emulateMedia({ colorScheme: second.colorScheme })
      await examine(t, page, second, `${role}, ${address}`)
    }
  }
  t.same(complaints, [], `${role}: the policy was not broken`)
}

/** Nothing on a screen hinders anybody, and nothing is wider than the window. */
async function examine(t: Test, page: Page, { colorScheme, viewport }: View, what: string): Promise<void> {
  t.same(await hindrances(page), [], `${what}, ${colorScheme}`)
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, `${what}, ${colorScheme}`)
}

await withConsole((opened) => {
  test('every screen that there is is visited', async (t) => {
    const list = await visits(opened)
    const source = readFileSync('planes/console/client/app/screens.ts', 'utf8')
    const patterns = [...source.matchAll(/pattern: '([^']+)'/g)].map(([, pattern]) => pattern)
    t.same(list.map(({ pattern }) => pattern).toSorted(), patterns.toSorted())
    for (const role of EVERYONE) await t.test(role, (inner) => walk(inner, opened, list, role))
  })

  test('a breach of the policy is counted, and a script that gets in does nothing', async (t) => {
    const { page, complaints } = await opened.open(t)
    const refused = await page.evaluate(`(() => {
      try { document.body.innerHTML = '<img src=x onerror="document.title=1">' } catch (error) { return error.name }
    })()`)
    t.equal(refused, 'TypeError')
    await page.evaluate("document.body.appendChild(document.createElement('style')).textContent = 'body{color:red}'")
    await page.evaluate("fetch('https://elsewhere.example/').catch(() => {})")
    for (const directive of ['require-trusted-types-for', 'style-src-elem', 'connect-src']) {
      const counted = () => complaints.some((complaint) => complaint.startsWith(`breach of the policy: ${directive}`))
      for (let look = 0; look < 40 && !counted(); look += 1) await page.waitForTimeout(50)
      t.ok(counted(), `${directive}: ${complaints.join(', ')}`)
    }
  })
})
