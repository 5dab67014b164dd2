/** Every dialog of the console: nothing in it hinders anybody, Escape closes it, and the focus is where it was. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { Keyboard } from '../support/browser/keyboard.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

const CLIENT = 'planes/console/client'
/** Titles of the dialogs that were opened. */
const seen = new Set<string>()
/** Dialogs that are parts of others, or whose titles are in a variable. */
const TITLES_IN_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'parts/confirm-by-name.tsx': [],
  'parts/form-dialog.tsx': [],
  'screens/objects/links/create-embed.tsx': ['Embed an object', 'Change an embed'],
  'screens/buckets/versioning.tsx': ['Enable versioning', 'Suspend versioning'],
}

/** A dialog is on the screen: it is looked at in light and dark. */
async function inspect(page: Page, t: Test, title: string): Promise<void> {
  await page.getByRole('dialog', { name: title, exact: true }).waitFor()
  seen.add(title)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.same(await hindrances(page), [], `${title}, ${colorScheme}`)
  }
}

/** Closes the dialog by Escape; the focus is on its opener again. */
async function leave(page: Page, t: Test, opener: string | RegExp): Promise<void> {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await new Keyboard(page, t).expectFocusOn('button', opener)
}

/** Opens a dialog by its button, looks at it, and closes it. */
async function look(page: Page, t: Test, opener: string | RegExp, title: string): Promise<void> {
  await page.getByRole('button', { name: opener, exact: true }).first().waitFor()
  // What is still loaded would move the button out of the window.
  await page.locator('main [aria-busy]').first().waitFor({ state: 'detached' })
  await page.getByRole('button', { name: opener, exact: true }).first().press('Enter')
  await inspect(page, t, title)
  await leave(page, t, opener)
}

function ofBuckets({ api, open, tokens }: OpenConsole): void {
  test('dialogs of buckets', async (t) => {
    await api.get('POST', '/buckets', { name: 'plain' })
    await api.get('POST', '/buckets', { name: 'locked', object_lock: true })
    await api.get('POST', '/buckets/plain/lifecycle', { prefix: 'tmp/', expiration: 7 })
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'buckets')
    await look(page, t, 'Create a bucket', 'Create a bucket')
    await goTo(page, 'buckets/plain')
    await look(page, t, 'Delete this bucket', 'Delete a bucket')
    await look(page, t, 'Change the quota', 'Quota')
    await look(page, t, 'Add a rule', 'Add a lifecycle rule')
    await look(page, t, /^Change the rule/, 'Change a lifecycle rule')
    await look(page, t, /^Delete the rule/, 'Delete a lifecycle rule')
    await look(page, t, 'Enable versioning', 'Enable versioning')
    await api.get('PUT', '/buckets/plain/versioning', { status: 'Enabled' })
    await goTo(page, 'buckets')
    await goTo(page, 'buckets/plain')
    await look(page, t, 'Suspend versioning', 'Suspend versioning')
    await goTo(page, 'buckets/locked')
    await look(page, t, 'Change the default retention', 'Default retention')
    t.same(complaints, [])
  })

  test('dialogs of webhooks', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'webhooks')
    await look(page, t, 'Create a webhook', 'Create a webhook')
    await page.getByRole('button', { name: 'Create a webhook' }).press('Enter')
    await page.getByLabel('Address').fill('https://hooks.example/store')
    await page.keyboard.press('Enter')
    await inspect(page, t, 'The signing secret')
    await leave(page, t, 'Create a webhook')
    await look(page, t, 'New secret', 'A new signing secret')
    await page.getByRole('button', { name: 'Deliveries' }).press('Enter')
    await look(page, t, 'Replay', 'Replay events')
    await look(page, t, 'Delete', 'Delete a webhook')
    t.same(complaints, [])
  })
}

function ofObjects({ api, open, put, tokens }: OpenConsole): void {
  test('dialogs of objects', async (t) => {
    await put('plain', 'folder/note.txt', 'a note')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'buckets/plain/objects?prefix=folder/&key=folder%2Fnote.txt')
    await page.getByLabel('Preview').waitFor()
    await look(page, t, 'Copy', 'Copy an object')
    await look(page, t, 'Delete', 'Delete an object')
    await look(page, t, /^Delete the version/, 'Delete a version')
    await look(page, t, 'Delete all of this', 'Delete a folder')
    await page.getByLabel('Select folder/note.txt').check()
    await look(page, t, 'Delete', 'Delete 1 object')
    await goTo(page, 'buckets/plain/objects?prefix=fol')
    await look(page, t, 'Delete all of this', 'Delete all that begins so')
    t.match(await api.get('GET', '/buckets/plain/object/folder%2Fnote.txt'), { size: 6 }, 'nothing was deleted')
    t.same(complaints, [])
  })

  test('dialogs of public links', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'buckets/plain/objects?key=folder%2Fnote.txt')
    await page.getByText('Nobody has a link to this').waitFor()
    await look(page, t, 'Embed', 'Embed an object')
    await look(page, t, 'Share', 'Share an object')
    await page.getByRole('button', { name: 'Share', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Make a link' }).press('Enter')
    await inspect(page, t, 'The address')
    await leave(page, t, 'Share')
    await look(page, t, 'Show the address', 'The address')
    await look(page, t, 'Revoke', 'Revoke a link')
    await page.getByRole('button', { name: 'Revoke' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
    await look(page, t, /^Delete the link/, 'Delete a link')
    const embed = { allowed_origins: ['https://www.example.org'], expires_in_seconds: 3600 }
    await api.get('POST', '/buckets/plain/object-embeds/folder%2Fnote.txt', embed)
    await goTo(page, 'buckets')
    await goTo(page, 'buckets/plain/objects?key=folder%2Fnote.txt')
    await look(page, t, 'Change', 'Change an embed')
    t.same(complaints, [])
  })
}

function ofAccess({ open, tokens }: OpenConsole): void {
  test('dialogs of access', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'access')
    await look(page, t, 'Create a service account', 'Create a service account')
    await page.getByRole('button', { name: 'Create a service account' }).press('Enter')
    await page.getByLabel('Name').fill('backup')
    await page.keyboard.press('Enter')
    await inspect(page, t, 'The new credential')
    await page.getByRole('button', { name: 'I have kept it' }).press('Enter')
    await page.getByRole('heading', { name: 'backup' }).waitFor()
    await look(page, t, 'Issue a credential', 'Issue a credential')
    await page.getByRole('button', { name: 'Issue a credential' }).press('Enter')
    await page.getByRole('button', { name: 'Issue', exact: true }).press('Enter')
    await inspect(page, t, 'The new credential')
    await leave(page, t, 'Issue a credential')
    await look(page, t, 'Attach a policy', 'Attach a policy')
    await look(page, t, 'Delete', 'Delete the account')
    await goTo(page, 'access/policies/new')
    await page.getByLabel('Name of the policy').fill('read')
    await page.getByLabel('Actions').fill('s3:GetObject')
    await page.getByLabel('Resources').fill('bucket:plain/*')
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter')
    await page.getByRole('heading', { name: 'read', exact: true }).waitFor()
    await look(page, t, 'Delete', 'Delete the policy')
    await goTo(page, 'access/tokens')
    await look(page, t, 'Issue a token', 'Issue a token')
    await page.getByRole('button', { name: 'Issue a token' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('night shift')
    await page.keyboard.press('Enter')
    await inspect(page, t, 'The new token')
    await leave(page, t, 'Issue a token')
    await look(page, t, 'Revoke the token night shift', 'Revoke the token')
    t.same(complaints, [])
  })
}

function ofTheRest({ api, open, tokens }: OpenConsole): void {
  test('dialogs of the audit log', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'audit')
    await look(page, t, 'Export', 'Export records')
    await look(page, t, 'GET /auth/session', 'A request')
    t.same(complaints, [])
  })

  test('whoever has to sign in again does not lose what is below by Escape', async (t) => {
    const role = 'storage-administrator'
    const issued = await api.get<{ id: string; token: string }>('POST', '/management-tokens', { name: 'short', role })
    const { page, complaints } = await open(t)
    await signIn(page, issued.token)
    await goTo(page, 'buckets')
    await page.getByRole('button', { name: 'Create a bucket' }).press('Enter')
    await page.getByLabel('Name').fill('typed-before')
    await api.get('DELETE', `/management-tokens/${issued.id}`)
    await page.keyboard.press('Enter')
    await inspect(page, t, 'Sign in again')
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    // A browser closes a dialog at the second one without asking.
    for (let times = 0; times < 4; times += 1) await page.keyboard.press('Escape')
    await again.getByLabel('Token').fill(tokens[role])
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    t.equal(await page.getByRole('dialog').getByLabel('Name').inputValue(), 'typed-before')
    t.same(complaints, [])
  })
}

/** Every title that the source of the client gives a dialog, by its file. */
function titlesInSource(): { readonly file: string; readonly titles: readonly string[] }[] {
  const files = readdirSync(CLIENT, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'))
  return files.flatMap((file) => {
    const source = readFileSync(join(CLIENT, file), 'utf8')
    const dialogs = source.matchAll(/<(?:FormDialog|ConfirmByName|Dialog)\s+title=(?:"([^"]*)"|\{(.*?)\}\s)/gs)
    return [...dialogs].map(([, title, expression = '']) => {
      const literals = [...expression.matchAll(/'([^']*)'|`([^$`]*)/g)].map(([, text, start]) => text ?? start ?? '')
      const titles =
        title === undefined ? (TITLES_IN_VARIABLES[file] ?? literals.filter((text) => /^[A-Z]/.test(text))) : [title]
      return { file, titles: expression.startsWith('`') ? titles.slice(0, 1) : titles }
    })
  })
}

function all(): void {
  test('every dialog that there is was opened', async (t) => {
    const dialogs = titlesInSource()
    t.ok(dialogs.length > 25, `${dialogs.length} dialogs`)
    for (const { file, titles } of dialogs) {
      t.ok(titles.length > 0 || file in TITLES_IN_VARIABLES, `${file}: a dialog whose title is known`)
      for (const title of titles)
        t.ok(
          Array.from(seen).some((each) => each.startsWith(title)),
          `${file}: ${title}`,
        )
    }
  })
}

await withConsole((opened) => {
  ofBuckets(opened)
  ofObjects(opened)
  ofAccess(opened)
  ofTheRest(opened)
  all()
})
