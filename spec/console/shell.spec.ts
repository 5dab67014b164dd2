/** Sign in, roles, what happens when a credential or the server ends; in a browser. */
import { test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

function signingIn({ server, tokens, open }: OpenConsole): void {
  test('sign in by a token or the root credential', async (t) => {
    const { page, complaints } = await open(t)
    t.same(await hindrances(page), [])
    await page.getByLabel('Token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('UNAUTHENTICATED').waitFor()
    t.match(await page.getByRole('alert').textContent(), /request .{8}/, 'with the id of the request')
    t.same(await hindrances(page), [])
    await page.getByLabel('Sign in with').selectOption('root')
    await page.getByLabel('Access key').fill(server.accessKey)
    await page.getByLabel('Secret key').fill(server.secretKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('System administrator').waitFor()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.same(await hindrances(page), [])
    t.equal(await page.evaluate('sessionStorage.length + document.cookie.length'), 0, 'kept in memory alone')
    await page.reload()
    await page.getByLabel('Token').waitFor()
    t.same(complaints, [])
  })

  test('a tab keeps its credential when it is told to, until somebody signs out', async (t) => {
    const { page, complaints } = await open(t)
    await page.getByLabel('Stay signed in').check()
    await signIn(page, tokens.auditor)
    await goTo(page, 'webhooks')
    await page.reload()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    await page.reload()
    await page.getByLabel('Token').waitFor()
    t.equal(await page.evaluate('sessionStorage.length'), 0)
    t.same(complaints, [])
  })
}

function usingIt({ api, tokens, open, put }: OpenConsole): void {
  test('nobody sees what the role may not use', async (t) => {
    await api.get('POST', '/buckets', { name: 'roles' })
    await put('roles', 'note.txt', 'a note')
    const writing = /\b(Create|Upload|Delete|Change|Add|Enable|Suspend|Copy|Restore)\b/
    for (const [role, mayWrite] of [
      ['auditor', false],
      ['storage-administrator', true],
      ['system-administrator', true],
    ] as const) {
      const { page, complaints } = await open(t)
      await signIn(page, tokens[role])
      for (const [address, shown] of [
        ['buckets', 'roles'],
        ['buckets/roles', 'Nothing expires by itself'],
        ['buckets/roles/objects?key=note.txt', 'SHA-256'],
        ['webhooks', 'Nothing is sent anywhere yet'],
      ] as const) {
        await goTo(page, address)
        await page.getByText(shown, { exact: true }).first().waitFor()
        const texts = await page.getByRole('button').allTextContents()
        t.equal(
          texts.some((text) => writing.test(text)),
          mayWrite,
          `${role}, ${address}: ${texts.join(', ')}`,
        )
      }
      await goTo(page, 'nothing/here')
      await page.getByText('Page not found').waitFor()
      t.same(complaints, [])
    }
  })

  test('a credential that ends leaves the screen, and asks for another one', async (t) => {
    const issued = await api.get<{ id: string; token: string }>('POST', '/management-tokens', {
      name: 'short',
      role: 'storage-administrator',
    })
    const { page, complaints } = await open(t)
    await signIn(page, issued.token)
    await goTo(page, 'buckets')
    await page.getByRole('button', { name: 'Create a bucket' }).click()
    await page.getByLabel('Name').fill('typed-before')
    await api.get('DELETE', `/management-tokens/${issued.id}`)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.waitFor()
    t.same(await hindrances(page), [])
    await again.getByLabel('Token').fill(tokens['storage-administrator'])
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    t.equal(await page.getByLabel('Name').inputValue(), 'typed-before', 'what was typed is there')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'typed-before' }).waitFor()
    t.same(complaints, [])
  })

  test('dialogs keep the focus and give it back', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'buckets')
    const opener = page.getByRole('button', { name: 'Create a bucket' })
    await opener.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    t.same(await hindrances(page), [])
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('Tab')
      const place = await page.evaluate(
        "document.activeElement === document.body || document.activeElement.closest('dialog') !== null",
      )
      t.ok(place, 'inside, or at the controls of the browser')
    }
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    t.ok(await opener.evaluate((element) => element === element.ownerDocument.activeElement))
    t.same(complaints, [])
  })
}

await withConsole((opened) => {
  signingIn(opened)
  usingIt(opened)
})
