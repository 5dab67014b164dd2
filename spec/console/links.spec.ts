/** Public links made in a browser, and what a server that goes away leaves of the page. */
import { test } from 'tap'
import { hindrances } from '../support/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

function links({ api, tokens, open, put }: OpenConsole): void {
  test('a share is made, shown, used and revoked', async (t) => {
    await api.get('POST', '/buckets', { name: 'links' })
    await put('links', 'a/note.txt', 'a note')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/links/objects?key=a%2Fnote.txt')
    await page.getByText('Nobody has a link to this').waitFor()
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('It lasts').selectOption('3600')
    await dialog.getByLabel('Downloads at most').fill('0')
    t.ok(await dialog.getByRole('button', { name: 'Make a link' }).isDisabled())
    await dialog.getByLabel('Downloads at most').fill('2')
    t.same(await hindrances(page), [])
    await dialog.getByRole('button', { name: 'Make a link' }).click()
    const address = (await dialog.locator('.secret code').textContent()) ?? ''
    t.match(address, /^http:\/\/127\.0\.0\.1:\d+\/s\/[\w-]{43}$/)
    t.same(await hindrances(page), [])
    await page.keyboard.press('Escape')
    await page.getByText('Downloaded 0 of 2 times').waitFor()
    t.equal((await fetch(address)).status, 200)
    await page.getByRole('button', { name: 'Show the address' }).click()
    await dialog.getByText(address).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
    t.equal((await fetch(address)).status, 410)
    t.same(complaints, [])
  })

  test('an embed is for the origins that are named, and an auditor only looks', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/links/objects?key=a%2Fnote.txt')
    await page.getByRole('button', { name: 'Embed', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Origins').fill('https://www.example.org, http://localhost:8080')
    await dialog.getByRole('button', { name: 'Make an address' }).click()
    await dialog.locator('.secret code').waitFor()
    const { embeds } = await api.get<{ embeds: readonly unknown[] }>('GET', '/buckets/links/object-embeds/a%2Fnote.txt')
    t.match(embeds, [{ allowed_origins: ['https://www.example.org', 'http://localhost:8080'], status: 'active' }])
    t.same(complaints, [])
    const auditor = await open(t)
    await signIn(auditor.page, tokens.auditor)
    await goTo(auditor.page, 'buckets/links/objects?key=a%2Fnote.txt')
    await auditor.page.getByText('https://www.example.org').waitFor()
    t.equal(await auditor.page.getByRole('button', { name: 'Show the address' }).count(), 0)
    t.same(auditor.complaints, [])
  })
}

function outage({ api, tokens, open, put }: OpenConsole): void {
  test('a server that does not answer is told of, and nothing is lost when it does again', async (t) => {
    await api.get('POST', '/buckets', { name: 'outage' })
    await put('outage', 'kept.txt', 'kept')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/outage')
    await page.getByRole('button', { name: 'Change the quota' }).click()
    await page.getByLabel('Bytes', { exact: true }).fill('5 GiB')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The server cannot be reached').waitFor()
    t.same(await hindrances(page), [])
    await page.context().setOffline(false)
    t.equal(await page.getByLabel('Bytes', { exact: true }).inputValue(), '5 GiB')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('of 5 GiB').waitFor()
    await page.context().setOffline(true)
    await goTo(page, 'buckets/outage/objects')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'kept.txt' }).waitFor()
    t.same(complaints, [])
  })
}

await withConsole((opened) => {
  links(opened)
  outage(opened)
})
