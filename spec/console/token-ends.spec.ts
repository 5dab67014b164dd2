/** A token that ends in the middle of something: nothing that was typed, chosen or loaded is lost. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { slowUploads } from '../support/browser/browser.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

interface Form {
  readonly address: string
  /** The button that opens it, for a dialog. */
  readonly opener?: string
  /** What is typed, by label. */
  readonly typed: Readonly<Record<string, string>>
  readonly verb: string
  /** What is there when it was sent. */
  readonly done: string
}

const FORMS: readonly Form[] = [
  {
    address: 'buckets',
    opener: 'Create a bucket',
    typed: { Name: 'made-later' },
    verb: 'Create',
    done: 'There are no objects',
  },
  {
    address: 'buckets/forms',
    opener: 'Change the quota',
    typed: { Bytes: '5 GiB', Objects: '7' },
    verb: 'Save',
    done: 'of 5 GiB',
  },
  {
    address: 'buckets/forms',
    opener: 'Add a rule',
    typed: { 'Objects expire after days': '3' },
    verb: 'Save',
    done: 'objects expire after 3 days',
  },
  {
    address: 'webhooks',
    opener: 'Create a webhook',
    typed: { Address: 'https://hooks.example/a', 'Prefix of keys': 'a/' },
    verb: 'Create',
    done: 'The signing secret',
  },
  {
    address: 'access',
    opener: 'Create a service account',
    typed: { Name: 'backup', Description: 'nightly' },
    verb: 'Create',
    done: 'The new credential',
  },
  {
    address: 'access/policies/new',
    typed: { 'Name of the policy': 'read', Actions: 's3:GetObject', Resources: 'bucket:forms/*' },
    verb: 'Create',
    done: 'Attached to nobody.',
  },
  {
    address: 'buckets/forms/objects?key=note.txt',
    opener: 'Copy',
    typed: { Key: 'copied/to' },
    verb: 'Copy',
    done: 'The object was copied',
  },
  {
    address: 'buckets/forms/objects?key=note.txt',
    opener: 'Share',
    typed: { Password: 'a long password', 'Downloads at most': '4' },
    verb: 'Make a link',
    done: 'Whoever has this address',
  },
]

function forms({ api, open, put, tokens }: OpenConsole): void {
  test('what was typed into a form is there, and is sent, after somebody signed in again', async (t) => {
    await api.get('POST', '/buckets', { name: 'forms' })
    await put('forms', 'note.txt', 'a note')
    for (const form of FORMS) {
      await t.test(`${form.address}, ${form.opener ?? 'the screen itself'}`, (inner) => fillIn(inner, form))
    }
  })

  async function fillIn(t: Test, { address, opener, typed, verb, done }: Form): Promise<void> {
    const { page, complaints } = await open(t)
    const short = await shortToken(api)
    await signIn(page, short.token)
    await goTo(page, address)
    if (opener !== undefined) await page.getByRole('button', { name: opener, exact: true }).click()
    const form = opener === undefined ? page.locator('main') : page.getByRole('dialog').first()
    for (const [label, value] of Object.entries(typed)) await form.getByLabel(label, { exact: true }).fill(value)
    await short.revoke()
    await form.getByRole('button', { name: verb, exact: true }).click()
    await signInAgain(page, tokens['system-administrator'])
    for (const [label, value] of Object.entries(typed)) {
      t.equal(await form.getByLabel(label, { exact: true }).inputValue(), value, label)
    }
    await form.getByRole('button', { name: verb, exact: true }).click()
    await page.getByText(done).first().waitFor()
    t.same(complaints, [])
  }
}

/** A token that is valid until it is revoked. */
async function shortToken(api: OpenConsole['api']) {
  const body = { name: 'short', role: 'system-administrator' }
  const { id, token } = await api.get<{ id: string; token: string }>('POST', '/management-tokens', body)
  return { token, revoke: () => api.get('DELETE', `/management-tokens/${id}`) }
}

async function signInAgain(page: Page, token: string): Promise<void> {
  const again = page.getByRole('dialog', { name: 'Sign in again' })
  await again.getByLabel('Token').fill(token)
  await page.keyboard.press('Enter')
  await again.waitFor({ state: 'detached' })
}

function work({ api, open, put, tokens }: OpenConsole): void {
  test('uploads that wait go on after somebody signed in again', async (t) => {
    await api.get('POST', '/buckets', { name: 'waiting' })
    const directory = t.testdir()
    const files = Array.from({ length: 6 }, (_, index) => join(directory, `${index}.bin`))
    for (const file of files) writeFileSync(file, Buffer.alloc(4 * 1024 ** 2, file))
    const { page, complaints } = await open(t)
    const short = await shortToken(api)
    await signIn(page, short.token)
    await goTo(page, 'buckets/waiting/objects')
    await page.getByText('There are no objects').waitFor()
    await slowUploads(page, 4 * 1024 ** 2)
    await page.locator('input[type=file]').first().setInputFiles(files)
    await page.locator('progress[value]:not([value="0"])').first().waitFor()
    await short.revoke()
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    t.equal(await page.getByText('UNAUTHENTICATED').count(), 0, 'they wait, and have not failed')
    await signInAgain(page, tokens['system-administrator'])
    await page.getByText('Uploads are done, 6 sent').waitFor()
    t.match(await api.get('GET', '/buckets/waiting'), { usage: { objects: 6, bytes: 24 * 1024 ** 2 } })
    t.same(complaints, [])
  })

  test('what was ticked, filtered and scrolled to is still so', async (t) => {
    await api.get('POST', '/buckets', { name: 'long' })
    for (let each = 100; each < 160; each += 1) await put('long', `k${each}`, 'x')
    const { page, complaints } = await open(t)
    const short = await shortToken(api)
    await signIn(page, short.token)
    await goTo(page, 'buckets/long/objects')
    await page.getByLabel('Select k101').check()
    await page.getByRole('link', { name: 'k101', exact: true }).focus()
    await page.keyboard.press('End')
    await page.getByLabel('Select k159').check()
    const scrolled = () => page.evaluate("document.querySelector('.list-rows').scrollTop")
    const before = Number(await scrolled())
    t.ok(before > 0)
    await short.revoke()
    await page.getByRole('link', { name: 'k159', exact: true }).click()
    await signInAgain(page, tokens['system-administrator'])
    await page.getByRole('complementary', { name: 'Details' }).getByText('SHA-256').waitFor()
    await page.getByText('2 objects selected').waitFor()
    t.equal(await scrolled(), before)
    t.same(complaints, [])
  })

  test('who signs out takes the uploads along', async (t) => {
    await api.get('POST', '/buckets', { name: 'left' })
    const file = join(t.testdir({ 'large.bin': Buffer.alloc(16 * 1024 ** 2) }), 'large.bin')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/left/objects')
    await page.getByText('There are no objects').waitFor()
    await slowUploads(page, 2 * 1024 ** 2)
    await page.locator('input[type=file]').first().setInputFiles(file)
    await page.locator('progress[value]:not([value="0"])').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, tokens.auditor)
    t.equal(await page.getByRole('region', { name: 'Uploads' }).count(), 0)
    t.match(await api.get('GET', '/buckets/left'), { usage: { objects: 0 } })
    t.same(complaints, [])
  })
}

await withConsole((opened) => {
  forms(opened)
  work(opened)
})
