/** Files that are dropped, uploads that are cancelled, many objects deleted at once, and PDFs. */
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { slowUploads } from '../support/browser/browser.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

/** The most that is queued at once. */
const FILES_MAXIMUM = 10_000

/** Drags files and folders of the disk over an element as a person does, and lets them go there. */
async function drop(page: Page, over: string, paths: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const box = await page.locator(over).boundingBox()
  const at = { x: (box?.x ?? 0) + 40, y: (box?.y ?? 0) + 20 }
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, ...at, data })
  }
  await session.detach()
}

function dropping({ api, tokens, open }: OpenConsole): void {
  test('files and a folder are dropped into the folder that is shown', async (t) => {
    await api.get('POST', '/buckets', { name: 'dropped' })
    const directory = t.testdir()
    mkdirSync(join(directory, 'photos/deep/empty'), { recursive: true })
    for (let each = 0; each < 130; each += 1) writeFileSync(join(directory, `photos/${each}.txt`), `photo ${each}`)
    writeFileSync(join(directory, 'photos/deep/ünïcode 👋.txt'), 'deep')
    writeFileSync(join(directory, 'alone.txt'), 'alone')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/dropped/objects?prefix=in%2F')
    await page.getByText('No key begins so').waitFor()
    await drop(page, '.browser-list', [join(directory, 'photos'), join(directory, 'alone.txt')])
    await page.getByText('Uploads are done, 132 sent').waitFor()
    await page.getByRole('link', { name: 'photos/' }).waitFor()
    t.same(await hindrances(page), [])
    const { objects } = await api.get<{ objects: { key: string }[] }>('GET', '/buckets/dropped/objects?limit=1000')
    t.equal(objects.length, 132)
    for (const key of ['in/alone.txt', 'in/photos/129.txt', 'in/photos/deep/ünïcode 👋.txt']) {
      t.ok(
        objects.some((object) => object.key === key),
        key,
      )
    }
    t.same(complaints, [])
  })

  test('what is dropped where nothing takes it does nothing', async (t) => {
    const file = join(t.testdir({ 'file.txt': 'a file' }), 'file.txt')
    for (const role of ['auditor', 'storage-administrator'] as const) {
      const { page, complaints } = await open(t)
      await signIn(page, tokens[role])
      await goTo(page, role === 'auditor' ? 'buckets/dropped/objects' : 'buckets')
      await page.getByRole('link', { name: role === 'auditor' ? 'in/' : 'dropped' }).waitFor()
      const address = page.url()
      await page.evaluate("document.body.dataset.seen = 'yes'")
      await drop(page, 'main', [file])
      await goTo(page, 'webhooks')
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
      t.equal(await page.evaluate('document.body.dataset.seen'), 'yes', `the page is still ${address}`)
      t.equal(page.context().pages().length, 1)
      t.same(complaints, [])
    }
    t.equal((await api.send('GET', '/api/v1/buckets/dropped/object/file.txt')).status, 404)
  })

  test('more files than are held at once are refused as a whole, chosen or dropped', async (t) => {
    await api.get('POST', '/buckets', { name: 'many' })
    const directory = t.testdir({ many: {} })
    const name = (each: number) => join(directory, 'many', `${each}`)
    for (let each = 0; each <= FILES_MAXIMUM; each += 1) writeFileSync(name(each), '')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/many/objects')
    await page.getByText('There are no objects').waitFor()
    await page.locator('input[type=file]').nth(1).setInputFiles(join(directory, 'many'))
    await page.getByText('More than 10,000 files at once: none of these is sent').waitFor()
    t.same(await hindrances(page), [])
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await drop(page, '.browser-list', [join(directory, 'many')])
    await page.getByText('More than 10,000 files at once: none of these is sent').waitFor()
    t.match(await api.get('GET', '/buckets/many'), { usage: { objects: 0 } })
    t.same(complaints, [])
  })
}

function cancelling({ server, api, tokens, open }: OpenConsole): void {
  test('an upload that is cancelled leaves nothing', async (t) => {
    await api.get('POST', '/buckets', { name: 'given-up' })
    const directory = t.testdir()
    for (const name of ['one', 'two', 'three', 'four'])
      writeFileSync(join(directory, name), Buffer.alloc(32 * 1024 ** 2, name))
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/given-up/objects')
    await page.getByText('There are no objects').waitFor()
    const before = bytesBelow(server.dataDirectory)
    await slowUploads(page, 4 * 1024 ** 2)
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles(['one', 'two', 'three', 'four'].map((name) => join(directory, name)))
    for (const name of ['one', 'two', 'three']) {
      await page.locator(`progress[aria-label="Sent of ${name}"]:not([value="0"])`).waitFor()
    }
    await page.getByRole('button', { name: 'Cancel waiting ones' }).click()
    t.same(await hindrances(page), [])
    for (const name of ['one', 'two', 'three']) await page.getByRole('button', { name: `Cancel ${name}` }).click()
    await page.getByText('Uploads are done, 0 sent').waitFor()
    t.equal(await page.getByText('cancelled', { exact: true }).count(), 4)
    await page.getByText('There are no objects').waitFor()
    // The server sees the end of a connection a little after the page.
    while (bytesBelow(server.dataDirectory) > before + 8 * 1024 ** 2) await page.waitForTimeout(100)
    const { status, text } = await server.raw('GET', '/given-up?uploads')
    t.equal(status, 200)
    t.notMatch(text, '<Upload>', 'no multipart upload is left')
    t.match(await api.get('GET', '/buckets/given-up'), { usage: { objects: 0, bytes: 0 } })
    t.equal((await api.send('DELETE', '/api/v1/buckets/given-up')).status, 204, 'the bucket is empty')
    t.same(complaints, [])
  })
}

/** Bytes of all files below a directory; one that goes away meanwhile has none. */
function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const path = join(directory, name)
    return sum + (existsSync(path) ? (statSync(path, { throwIfNoEntry: false })?.size ?? 0) : 0)
  }, 0)
}

function deleting({ api, tokens, open, put }: OpenConsole): void {
  test('many objects are deleted when the name of the bucket is typed', async (t) => {
    await api.get('POST', '/buckets', { name: 'bulk', object_lock: false })
    await api.get('PUT', '/buckets/bulk/versioning', { status: 'Enabled' })
    for (let each = 10; each < 40; each += 1) await put('bulk', `k${each}`, 'x')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/bulk/objects')
    for (let each = 10; each < 18; each += 1) await page.getByLabel(`Select k${each}`).check()
    await page.getByRole('region', { name: 'Selection' }).getByText('8 objects selected').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 8 objects' })
    await dialog.getByText('and 3 more').waitFor()
    const verb = dialog.getByRole('button', { name: 'Delete', exact: true })
    for (const typed of ['', 'bul', 'bulk ', 'delete']) {
      await dialog.getByLabel('Name').fill(typed)
      t.ok(await verb.isDisabled(), `"${typed}" is not the name`)
    }
    await dialog.getByLabel('Name').fill('bulk')
    // One of them cannot be deleted at first: what was deleted before is not deleted again.
    let refused = 0
    await page.route('**/api/v1/buckets/bulk/object/k14', (route) => {
      refused += 1
      const error = { code: 'TOO_MANY_REQUESTS', message: 'Too many at once.', request_id: 'r' }
      return refused === 1 ? route.fulfill({ status: 429, json: { error } }) : route.continue()
    })
    await verb.click()
    await dialog.getByText('TOO_MANY_REQUESTS').waitFor()
    await verb.click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('8 objects deleted.').waitFor()
    await page.getByRole('link', { name: 'k10', exact: true }).waitFor({ state: 'detached' })
    t.equal(await page.getByRole('region', { name: 'Selection' }).count(), 0)
    const { versions } = await api.get<{ versions: { delete_marker: boolean }[] }>(
      'GET',
      '/buckets/bulk/object-versions?limit=1000',
    )
    t.equal(versions.filter(({ delete_marker: marker }) => marker).length, 8, 'one delete marker for each')
    t.equal(versions.length, 38)
    t.same(complaints, [])
  })

  test('a deletion of many can be stopped', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/bulk/objects')
    for (let each = 20; each < 30; each += 1) await page.getByLabel(`Select k${each}`).check()
    let asked = 0
    const gate = new EventEmitter()
    const opened = once(gate, 'open')
    await page.route('**/api/v1/buckets/bulk/object/*', async (route) => {
      asked += 1
      await opened
      await route.continue()
    })
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('bulk')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).click()
    gate.emit('open')
    await page.getByText(/Stopped: \d of 10 deleted/).waitFor()
    t.ok(asked > 0 && asked < 10, `${asked} were under way`)
    await page.getByRole('link', { name: 'k29', exact: true }).waitFor()
    t.same(complaints, [])
  })
}

/** The smallest that a viewer opens: one empty page. */
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>`

function showingPdfs({ server, tokens, open, put, api }: OpenConsole): void {
  test('a PDF opens in a tab as a PDF, whatever else it would like to be', async (t) => {
    await api.get('POST', '/buckets', { name: 'papers' })
    const script =
      '<html><script>opener && (opener.document.title = "broken"); document.title = "broken"</script></html>'
    await put('papers', 'paper.pdf', Buffer.concat([Buffer.from(PDF), Buffer.from([0, 1, 2, 255])]), 'text/html')
    await put(
      'papers',
      'polyglot.pdf',
      Buffer.concat([Buffer.from(`%PDF-1.4\n${script}`), Buffer.from([0, 255])]),
      'text/html',
    )
    await put('papers', 'false.pdf', Buffer.concat([Buffer.from([0, 255]), Buffer.from(script)]), 'application/pdf')
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    const button = page.getByRole('button', { name: 'Open the PDF in a tab' })
    for (const name of ['paper.pdf', 'polyglot.pdf']) {
      await goTo(page, `buckets/papers/objects?key=${name}`)
      await button.waitFor()
      t.same(await hindrances(page), [])
      const [tab] = await Promise.all([page.context().waitForEvent('page'), button.click()])
      await tab.waitForLoadState()
      t.match(tab.url(), new RegExp(`^blob:${server.consoleUrl.replace(/\/$/, '')}/`), name)
      t.equal(await tab.evaluate('document.contentType'), 'application/pdf', name)
      t.notMatch(await tab.title(), 'broken')
      await tab.close()
    }
    await goTo(page, 'buckets/papers/objects?key=false.pdf')
    await button.click()
    await page.getByText('Its bytes do not begin as those of a PDF').waitFor()
    t.equal(page.context().pages().length, 1)
    t.notMatch(await page.title(), 'broken')
    t.same(complaints, [])
  })
}

await withConsole((opened) => {
  dropping(opened)
  cancelling(opened)
  deleting(opened)
  showingPdfs(opened)
})
