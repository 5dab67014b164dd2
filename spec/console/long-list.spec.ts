/** A bucket of 100,000 keys in a browser: only what is seen is made, and the keyboard reaches the last one. */
import { test } from 'tap'
import { goTo, signIn, withConsole } from './open-console.ts'

const KEYS = 100_000
const ELEMENTS_MAXIMUM = 600
const ROW_PIXELS = 44

/** The answer of the server for a page, made here: storing so many objects takes longer than to look at them. */
function pageAfter(after: string | null, limit: number) {
  const first = after === null ? 0 : Number(after.slice('key-'.length)) + 1
  const count = Math.min(limit, KEYS - first)
  const objects = Array.from({ length: count }, (_, index) => ({
    key: `key-${String(first + index).padStart(6, '0')}`,
    size: first + index,
    etag: '0'.repeat(32),
    created_at: '2026-01-01T00:00:00.000000Z',
  }))
  return { objects, prefixes: [], next_after: first + count < KEYS ? objects.at(-1)?.key : null }
}

await withConsole(({ api, tokens, open }) => {
  test('100,000 keys are listed by pages, and all are reached', async (t) => {
    await api.get('POST', '/buckets', { name: 'long-list' })
    const { page, complaints } = await open(t)
    let pages = 0
    await page.route('**/api/v1/buckets/long-list/objects?*', (route) => {
      pages += 1
      const query = new URL(route.request().url()).searchParams
      return route.fulfill({ json: pageAfter(query.get('after'), Number(query.get('limit'))) })
    })
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/long-list/objects')
    const link = (key: string) => page.getByRole('link', { name: key, exact: true })
    await link('key-000000').focus()
    t.equal(pages, 1, 'what nobody looks at is not asked for')
    for (let last = 999; last < KEYS; last += 1000) {
      await page.keyboard.press('End')
      await link(`key-${String(last).padStart(6, '0')}`).waitFor()
      // The next page comes by itself, and the list grows by it.
      const height = Math.min(last + 1001, KEYS) * ROW_PIXELS
      while (Number(await page.evaluate("document.querySelector('.list-rows > *').offsetHeight")) < height) {
        await page.waitForTimeout(5)
      }
    }
    t.equal(pages, KEYS / 1000)
    t.equal(await page.evaluate('document.activeElement.textContent'), 'key-099999', 'the focus goes along')
    const elements = Number(await page.evaluate("document.querySelectorAll('*').length"))
    t.ok(elements < ELEMENTS_MAXIMUM, `${elements} elements`)
    await page.keyboard.press('Home')
    await link('key-000000').waitFor()
    t.same(complaints, [])
  })
})
