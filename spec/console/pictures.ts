/**
 * Pictures of every screen, to be looked at: `node build/spec/console/pictures.js DIRECTORY`. In light and dark, and at 320
 * pixels; each is also searched for hindrances and for what is wider than the window.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ApiClient, bearer } from '../support/api-client.ts'
import { hindrances } from '../support/browser/axe.ts'
import { launchBrowser, watchedPage } from '../support/browser/browser.ts'
import { startProcess } from '../support/server-process.ts'
import { goTo, signIn } from './open-console.ts'

const TOKEN = 'the-system-token-of-the-pictures-0123456789'
const VIEWS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 320, height: 640 } },
} as const
const SCREENS: Readonly<Record<string, string>> = {
  buckets: 'buckets',
  bucket: 'buckets/logs',
  objects: 'buckets/logs/objects',
  object: 'buckets/logs/objects?key=hello.txt',
  versions: 'buckets/logs/objects?versions=yes',
  webhooks: 'webhooks',
  access: 'access',
  policies: 'access/policies',
  'new policy': 'access/policies/new',
  tokens: 'access/tokens',
  audit: 'audit',
  evidence: 'evidence',
  retention: 'evidence/retention',
  bundle: 'evidence/bundle',
  verify: 'evidence/verify',
  overview: 'overview',
  filters: 'audit?bucket=logs&orphans=1',
  nothing: 'nothing',
}
const NAMES = ['hello.txt', 'a/b.txt', 'evil\u202egnp.exe', 'x'.repeat(1000), '<img src=x onerror=alert(1)>', '../up']

const directory = process.argv[2]
if (directory === undefined) throw new Error('usage: pictures.js DIRECTORY')
mkdirSync(directory, { recursive: true })
const server = await startProcess({ environment: { OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN } })
const api = ApiClient.of(server.apiEndpoint, bearer(TOKEN), () => {})
await api.get('POST', '/buckets', { name: 'logs', object_lock: true })
await api.get('POST', '/buckets/logs/lifecycle', { prefix: 'tmp/', expiration: 7 })
await api.get('POST', '/webhooks', { target_url: 'https://hooks.example/store', event_types: ['object.created'] })
for (const key of [...NAMES, 'hello.txt']) {
  await api.send('PUT', `/api/v1/buckets/logs/object/${encodeURIComponent(key)}`, { raw: `content of ${key}` })
}
const { account } = await api.get<{ account: { id: string } }>('POST', '/service-accounts', { name: 'backup' })
const policy = await api.get<{ id: string }>('POST', '/policies', {
  name: 'backup of logs',
  statements: [
    { effect: 'allow', actions: ['s3:Get*', 's3:PutObject'], resources: ['bucket:logs/*'] },
    { effect: 'deny', actions: ['s3:DeleteObject', 's3:ListBucket'], resources: ['bucket:logs/audit/*'] },
  ],
})
await api.send('PUT', `/api/v1/policies/${policy.id}/bindings/${account.id}`)
const screens = {
  ...SCREENS,
  account: `access/accounts/${account.id}`,
  policy: `access/policies/${policy.id}`,
}
const browser = await launchBrowser()
for (const [view, options] of Object.entries(VIEWS)) {
  const { page, complaints } = await watchedPage(browser, server.consoleUrl, options)
  await page.goto(server.consoleUrl)
  await page.screenshot({ path: join(directory, `${view}-sign-in.png`) })
  await signIn(page, TOKEN)
  for (const [name, address] of Object.entries(screens)) {
    await goTo(page, address)
    await page.locator('main [aria-busy]').first().waitFor({ state: 'detached' })
    await page.screenshot({ path: join(directory, `${view}-${name}.png`) })
    complaints.push(...(await hindrances(page)))
    const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    if (Number(beyond) > 0) complaints.push(`${beyond} pixels wider than the window`)
    for (const complaint of complaints.splice(0)) process.stdout.write(`${view}, ${name}: ${complaint}\n`)
  }
}
await browser.close()
api.close()
await server.stop()
