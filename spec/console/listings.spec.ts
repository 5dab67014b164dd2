/** Lists that are searched and sorted, and folders that are deleted, in a browser. */
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

/** The names that a list shows, from above. */
async function shown(page: Page, table: string): Promise<string[]> {
  return (await page.getByRole('table', { name: table }).locator('[data-row] .wide').allTextContents()).map((text) =>
    text.trim(),
  )
}

function searching({ api, tokens, open, put }: OpenConsole): void {
  test('buckets are searched by how they begin, and sorted by what columns say', async (t) => {
    for (const name of ['search-a', 'search-b', 'other']) await api.get('POST', '/buckets', { name })
    await put('search-a', 'large', 'x'.repeat(2000))
    await put('search-b', 'small', 'x')
    await put('search-b', 'smaller', 'x')
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'buckets')
    const other = page.getByRole('link', { name: 'other', exact: true })
    await other.waitFor()
    await page.getByRole('searchbox', { name: 'Buckets that begin with' }).fill('search-')
    await other.waitFor({ state: 'detached' })
    t.same(await shown(page, 'Buckets'), ['search-a', 'search-b'])
    await page.getByRole('button', { name: 'Objects' }).press('Enter')
    await page.getByRole('columnheader', { name: 'Objects' }).and(page.locator('[aria-sort=descending]')).waitFor()
    t.same(await shown(page, 'Buckets'), ['search-b', 'search-a'])
    t.same(await hindrances(page), [])
    await page.reload()
    await page.getByLabel('Token').waitFor()
    await signIn(page, tokens.auditor)
    await page.locator('[aria-sort=descending]').waitFor()
    t.same(await shown(page, 'Buckets'), ['search-b', 'search-a'], 'the address has it')
    await page.getByRole('button', { name: 'Size' }).press('Enter')
    await page.getByRole('columnheader', { name: 'Size' }).and(page.locator('[aria-sort=descending]')).waitFor()
    await page.getByRole('button', { name: 'Size' }).press('Enter')
    await page.getByRole('columnheader', { name: 'Size' }).and(page.locator('[aria-sort=ascending]')).waitFor()
    t.same(await shown(page, 'Buckets'), ['search-b', 'search-a'])
    await page.getByRole('button', { name: 'Size' }).press('Enter')
    await page.locator('[aria-sort=ascending]').waitFor({ state: 'detached' })
    t.same(await shown(page, 'Buckets'), ['search-a', 'search-b'], 'as they came')
    await page.getByRole('searchbox').fill('nothing-')
    await page.getByText('No bucket starts with this').waitFor()
    t.same(complaints, [])
  })

  test('a list that is not loaded to its end says that only what is loaded is sorted', async (t) => {
    await api.get('POST', '/buckets', { name: 'sorted' })
    for (const [key, size] of [
      ['a', 30],
      ['b', 10],
      ['c', 20],
    ] as const) {
      await put('sorted', key, 'x'.repeat(size))
    }
    const { page, complaints } = await open(t)
    // Pages of two keys.
    await page.route('**/buckets/sorted/objects?*', (route) =>
      route.continue({ url: route.request().url().replace('limit=1000', 'limit=2') }),
    )
    await signIn(page, tokens.auditor)
    await goTo(page, 'buckets/sorted/objects?sort=size')
    await page.getByText('Only the 2 that are loaded are sorted.').waitFor()
    t.same(await shown(page, 'Objects'), ['b', 'a'])
    t.same(await hindrances(page), [])
    await page.getByRole('button', { name: 'Load more' }).press('Enter')
    await page.getByText('Only the 2').waitFor({ state: 'detached' })
    t.same(await shown(page, 'Objects'), ['b', 'c', 'a'])
    t.same(complaints, [])
  })
}

function deleting({ api, tokens, open, put }: OpenConsole): void {
  test('a folder is deleted after its name was typed, with what lies deeper and beyond the first page', async (t) => {
    await api.get('POST', '/buckets', { name: 'folders' })
    for (const key of ['old/1', 'old/2', 'old/deep/3', 'old/deep/4', 'old/5', 'older', 'new/1']) {
      await put('folders', key, 'x')
    }
    const { page, complaints } = await open(t)
    let underWay = 0
    let mostUnderWay = 0
    await page.route('**/buckets/folders/object/**', async (route) => {
      underWay += 1
      mostUnderWay = Math.max(mostUnderWay, underWay)
      await route.continue()
    })
    page.on('response', (response) => {
      if (response.request().method() === 'DELETE') underWay -= 1
    })
    await page.route('**/buckets/folders/objects?*', (route) =>
      route.continue({ url: route.request().url().replace('limit=1000', 'limit=2') }),
    )
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/folders/objects')
    await page.getByRole('link', { name: 'old/', exact: true }).waitFor()
    t.equal(await page.getByRole('button', { name: 'Delete all of this' }).count(), 0, 'not of a whole bucket')
    await page.getByRole('link', { name: 'old/', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Delete all of this' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Delete a folder' })
    t.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled())
    await dialog.getByLabel('Name').fill('old')
    t.same(await hindrances(page), [])
    await page.keyboard.press('Enter')
    await page.getByText('5 objects deleted.').waitFor()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('No key begins so').waitFor()
    const { objects } = await api.get<{ objects: readonly { key: string }[] }>('GET', '/buckets/folders/objects')
    t.same(
      objects.map(({ key }) => key),
      ['new/1', 'older'],
    )
    t.ok(mostUnderWay <= 4, `${mostUnderWay} at once`)
    t.same(complaints, [])
  })

  test('a deletion that is stopped leaves the rest, and one that is refused says so and can be tried again', async (t) => {
    await api.get('POST', '/buckets', { name: 'halted' })
    for (let index = 0; index < 12; index += 1) await put('halted', `f/${String(index).padStart(2, '0')}`, 'x')
    const { page, complaints } = await open(t)
    const held: (() => void)[] = []
    let isHeld = true
    await page.route('**/buckets/halted/object/**', async (route) => {
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve))
      await route.continue()
    })
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/halted/objects?prefix=f%2F')
    const begin = async () => {
      await page.getByRole('button', { name: 'Delete all of this' }).press('Enter')
      await page.getByLabel('Name').fill('f')
      await page.keyboard.press('Enter')
    }
    await begin()
    await page.getByText('0 objects deleted so far').waitFor()
    t.same(await hindrances(page), [], 'under way')
    await page.getByRole('button', { name: 'Stop' }).press('Enter')
    isHeld = false
    for (const resolve of held.splice(0)) resolve()
    await page.getByText('4 objects deleted.').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const left = async () => {
      return (await api.get<{ objects: readonly unknown[] }>('GET', '/buckets/halted/objects')).objects.length
    }
    t.equal(await left(), 8)
    await page.context().setOffline(true)
    await begin()
    await page.getByRole('dialog').getByText('The server cannot be reached').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByText('8 objects deleted.').waitFor()
    t.equal(await left(), 0)
    t.same(complaints, [])
  })

  test('an auditor sees no such button', async (t) => {
    await put('folders', 'kept/1', 'x')
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'buckets/folders/objects?prefix=kept%2F')
    await page.getByRole('link', { name: '1', exact: true }).waitFor()
    t.equal(await page.getByRole('button', { name: 'Delete all of this' }).count(), 0)
    t.same(complaints, [])
  })
}

function replaying({ api, tokens, open }: OpenConsole): void {
  test('events of a range of time are delivered once more', async (t) => {
    const { subscription } = await api.get<{ subscription: { id: string } }>('POST', '/webhooks', {
      target_url: 'https://hooks.example/replayed',
      event_types: ['object.created'],
      bucket_filter: 'folders',
    })
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'webhooks')
    await page.getByRole('button', { name: 'Deliveries' }).press('Enter')
    await page.getByRole('button', { name: 'Replay' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Replay events' })
    t.ok(await dialog.getByRole('button', { name: 'Replay' }).isDisabled(), 'without a beginning')
    await dialog.getByLabel('From').fill('2026-01-01T00:00:00')
    t.same(await hindrances(page), [])
    const sent = page.waitForRequest((request) => request.url().endsWith(`/webhooks/${subscription.id}/replay`))
    await dialog.getByRole('button', { name: 'Replay' }).press('Enter')
    t.match((await sent).postDataJSON(), { since: /^202[56]-\d\d-\d\dT/, until: undefined })
    await page.getByText('The replay has begun.').waitFor()
    await api.get('PUT', `/webhooks/${subscription.id}/status`, { enabled: false })
    await page.getByRole('button', { name: 'Replay' }).press('Enter')
    await dialog.getByLabel('From').fill('2026-01-01T00:00:00')
    await dialog.getByRole('button', { name: 'Replay' }).press('Enter')
    await dialog.getByText('WEBHOOK_DISABLED').waitFor()
    await api.get('DELETE', `/webhooks/${subscription.id}`)
    t.same(complaints, [])
    const auditor = await open(t)
    await signIn(auditor.page, tokens.auditor)
    await goTo(auditor.page, 'webhooks')
    await auditor.page.getByText('Nothing is sent anywhere yet').waitFor()
    t.equal(await auditor.page.getByRole('button', { name: 'Replay' }).count(), 0)
  })
}

await withConsole((opened) => {
  searching(opened)
  deleting(opened)
  replaying(opened)
})
