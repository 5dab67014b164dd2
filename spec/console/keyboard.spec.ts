/** The six main tasks of the console with the keyboard alone; where the focus is, is always seen. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { Keyboard } from '../support/browser/keyboard.ts'
import { type OpenConsole, withConsole } from './open-console.ts'

const CONTENT = 'what was agreed'

/** A page that somebody has signed in to, by keyboard. */
async function signedIn({ open }: OpenConsole, t: Test, token: string) {
  const { page, complaints } = await open(t)
  const keys = new Keyboard(page, t)
  await keys.tabTo('textbox', 'Token')
  await keys.type(token)
  await keys.press('Enter')
  await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  await isInMain(t, page)
  return { page, keys, complaints }
}

/** A new screen has the focus, so that the next Tab goes to its first control. */
async function isInMain(t: Test, page: Page): Promise<void> {
  const inMain = () => page.evaluate("document.activeElement.closest('main') !== null")
  for (let look = 0; look < 40 && !(await inMain()); look += 1) await page.waitForTimeout(50)
  t.ok(await inMain(), 'the focus is on the screen')
}

function managing(opened: OpenConsole): void {
  const { api, tokens } = opened
  test('signing in, with a mistake, and by the root credential', async (t) => {
    const { page, complaints } = await opened.open(t)
    const keys = new Keyboard(page, t)
    await keys.tabTo('textbox', 'Token')
    await keys.type('mistyped')
    await keys.press('Enter')
    await page.getByRole('alert').getByText('UNAUTHENTICATED').waitFor()
    await keys.expectFocusOn('textbox', 'Token')
    await keys.tabTo('combobox', 'Sign in with', 'Shift+Tab')
    await keys.press('ArrowDown')
    await keys.tabTo('textbox', 'Access key')
    await keys.type(opened.server.accessKey)
    await keys.tabTo('textbox', 'Secret key')
    await keys.type(opened.server.secretKey)
    await keys.tabTo('checkbox', 'Stay signed in in this tab')
    await keys.press('Space')
    await keys.enter('button', 'Sign in')
    await page.getByText('System administrator').waitFor()
    await isInMain(t, page)
    t.match(await page.evaluate('sessionStorage.length'), 1)
    await keys.enter('button', 'Sign out')
    await page.getByLabel('Token').waitFor()
    t.same(complaints, [])
  })

  test('creating a bucket', async (t) => {
    const { page, keys, complaints } = await signedIn(opened, t, tokens['storage-administrator'])
    await keys.enter('link', 'Buckets')
    await keys.enter('button', 'Create a bucket')
    await keys.type('contracts')
    await keys.press('Escape')
    await keys.expectFocusOn('button', 'Create a bucket')
    await keys.press('Enter')
    await keys.type('contracts')
    await keys.tabTo('checkbox', 'Object Lock')
    await keys.press('Space')
    await keys.enter('button', 'Create')
    await page.getByRole('heading', { name: 'contracts' }).waitFor()
    await isInMain(t, page)
    t.match(await api.get('GET', '/buckets/contracts'), { object_lock: true })
    t.same(complaints, [])
  })

  test('uploading an object', async (t) => {
    const { page, keys, complaints } = await signedIn(opened, t, tokens['storage-administrator'])
    const file = join(t.testdir(), 'contract.txt')
    writeFileSync(file, CONTENT)
    await keys.enter('link', 'Buckets')
    await keys.enter('link', 'contracts')
    await page.getByText('There are no objects').waitFor()
    await isInMain(t, page)
    // The dialog of the system is not the page's; what it gives is.
    page.once('filechooser', (chooser) => void chooser.setFiles(file))
    await keys.enter('button', 'Upload files')
    await page.getByText('Uploads are done, 1 sent').waitFor()
    await keys.expectFocusOn('button', 'Upload files')
    await keys.tabTo('link', 'contract.txt')
    await keys.enter('button', 'Close')
    await page.getByText('Uploads are done').waitFor({ state: 'detached' })
    await isInMain(t, page)
    t.match(await api.get('GET', '/buckets/contracts/object/contract.txt'), { size: CONTENT.length })
    t.same(complaints, [])
  })

  test('sharing it, and taking the link back', async (t) => {
    const { page, keys, complaints } = await signedIn(opened, t, tokens['storage-administrator'])
    await keys.enter('link', 'Buckets')
    await keys.enter('link', 'contracts')
    await keys.enter('link', 'contract.txt')
    await page.getByLabel('Preview').getByText(CONTENT).waitFor()
    await keys.enter('button', 'Share')
    await keys.tabTo('textbox', 'Downloads at most')
    await keys.type('2')
    await keys.press('Enter')
    const address = (await page.getByRole('dialog').locator('.secret code').textContent()) ?? ''
    await keys.tabTo('button', 'Copy the address')
    await keys.press('Space')
    await page.getByRole('button', { name: /Copied|Select and copy it/ }).waitFor()
    await keys.press('Escape')
    await keys.expectFocusOn('button', 'Share')
    t.equal((await fetch(address)).status, 200)
    await page.getByText('Downloaded 0 of 2 times').waitFor()
    await keys.tabTo('button', 'Revoke', 'Shift+Tab')
    await keys.press('Enter')
    await page.getByRole('dialog').waitFor()
    await keys.press('Escape')
    await keys.expectFocusOn('button', 'Revoke')
    await keys.press('Enter')
    await keys.enter('button', 'Revoke')
    await page.getByText('revoked', { exact: true }).waitFor()
    await isInMain(t, page)
    t.equal((await fetch(address)).status, 410)
    t.same(complaints, [])
  })
}

function auditing(opened: OpenConsole): void {
  const { tokens } = opened
  test('finding a record of the audit log', async (t) => {
    const { page, keys, complaints } = await signedIn(opened, t, tokens.auditor)
    await keys.enter('link', 'Audit')
    await page.getByRole('table', { name: 'Audit records' }).waitFor()
    const filter = page.locator('summary')
    while (!(await filter.evaluate((element) => element === element.ownerDocument.activeElement))) {
      await page.keyboard.press('Tab')
    }
    await keys.press('Enter')
    await keys.tabTo('textbox', 'Bucket')
    await keys.type('contracts')
    await keys.tabTo('combobox', 'Result')
    await keys.press('ArrowDown')
    await keys.enter('button', 'Apply')
    await page.waitForURL(/bucket=contracts&result=success/)
    await keys.expectFocusOn('button', 'Apply')
    await page.getByRole('row').filter({ hasText: 'GET /auth/session' }).first().waitFor({ state: 'detached' })
    await keys.tabTo('button', /^PUT .*object/)
    await keys.press('ArrowDown')
    await keys.press('ArrowUp')
    await keys.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Record' }).waitFor()
    await dialog.getByText('contract.txt').first().waitFor()
    await keys.enter('button', 'Copy as JSON')
    await dialog.getByRole('button', { name: /Copied|Select and copy it/ }).waitFor()
    await keys.press('Escape')
    await keys.expectFocusOn('button', /^PUT .*object/)
    t.same(complaints, [])
  })

  test('verifying the chain, and a file with its proof', async (t) => {
    const { page, keys, complaints } = await signedIn(opened, t, tokens.auditor)
    const directory = t.testdir()
    await keys.enter('link', 'Evidence')
    await keys.enter('button', 'Verify the chain')
    await page.getByText('Every record is as it was written').waitFor()
    await keys.expectFocusOn('button', 'Verify the chain')

    await keys.enter('link', 'Buckets')
    await keys.enter('link', 'contracts')
    await keys.enter('link', 'contract.txt')
    await page.getByLabel('Preview').getByText(CONTENT).waitFor()
    await keys.enter('link', 'Proof bundle')
    await keys.tabTo('button', 'Save the bundle')
    const [download] = await Promise.all([page.waitForEvent('download'), keys.press('Enter')])
    await keys.expectFocusOn('button', 'Save the bundle')
    const bundle = join(directory, 'contract.proof.json')
    await download.saveAs(bundle)
    const { deployment } = JSON.parse(readFileSync(bundle, 'utf8')) as { deployment: { public_key: string } }

    const file = join(directory, 'contract.txt')
    writeFileSync(file, CONTENT)
    const choices = [file, bundle]
    page.on('filechooser', (chooser) => void chooser.setFiles(choices.shift() ?? []))
    await keys.tabTo('link', 'Verify a file', 'Shift+Tab')
    await keys.press('Enter')
    for (const [label, name] of [
      ['File', 'contract.txt,'],
      ['Proof bundle', 'contract.proof.json,'],
    ] as const) {
      await keys.tabTo('button', label)
      await keys.press('Enter')
      await page.getByText(name).waitFor()
    }
    await keys.tabTo('textbox', 'Public key of the deployment')
    await keys.type(deployment.public_key)
    await keys.press('Enter')
    await page.getByText('Verified: the file is the object').waitFor()
    await keys.expectFocusOn('textbox', 'Public key of the deployment')
    t.same(complaints, [])
  })
}

await withConsole((opened) => {
  managing(opened)
  auditing(opened)
})
