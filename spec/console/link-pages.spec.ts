/** The pages of shares in a real browser: readable, operable, silent; and embeds in pages of others. */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import tap, { type Test, test } from 'tap'
import { environment } from '../../cli/environment.ts'
import { microsecondsOf } from '../../engine/brands.ts'
import { hindrances } from '../support/browser/axe.ts'
import { browserMissing, launchBrowser, watchedPage } from '../support/browser/browser.ts'
import { startSharing } from '../support/sharing-server.ts'

/** A directory for pictures of the pages, to be looked at. */
const PICTURES = environment['SPEC_PICTURES']
const PASSWORD = 'open sesame'
const LONG_NAME = `${'a-very-long-name-of-a-report-that-somebody-exported-without-thinking'.repeat(2)} <b>&"'.pdf`

const browser = browserMissing === undefined ? await launchBrowser() : undefined
const server = await startSharing()
tap.teardown(async () => {
  await browser?.close()
  await server.stop()
})
await server.put('report.pdf', Buffer.alloc(5_300_000, 'p'), [['content-type', 'application/pdf']])
await server.put('page.html', '<h1 id="ran">a page</h1>', [['content-type', 'text/html']])
await server.put('note.txt', 'a note of somebody', [['content-type', 'text/plain']])

/** The views that every page must stand. 640 px at twice the size are 320 px of layout. */
const VIEWS: Readonly<Record<string, BrowserContextOptions>> = {
  wide: { viewport: { width: 1024, height: 768 }, colorScheme: 'light' },
  dark: { viewport: { width: 1024, height: 768 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 320, height: 640 }, colorScheme: 'light' },
  'twice the size': { viewport: { width: 640, height: 400 }, deviceScaleFactor: 1, colorScheme: 'light' },
}

async function pictureOf(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name.replaceAll(' ', '-')}.png`), fullPage: true })
}

async function isWithinItsWidth(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')
}

/** Opens a page in every view, holds it against what holds for all, and hands it on. */
async function inEveryView(t: Test, path: string, name: string, look: (page: Page) => Promise<void>): Promise<void> {
  if (browser === undefined) return
  for (const [view, options] of Object.entries(VIEWS)) {
    const { page, complaints } = await watchedPage(browser, server.shareEndpoint, options)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${server.shareEndpoint}${path}`)
    if (view === 'twice the size') await page.evaluate("document.documentElement.style.zoom = '2'")
    await look(page)
    t.same(await hindrances(page), [], `${name}, ${view}: axe`)
    t.ok(await isWithinItsWidth(page), `${name}, ${view}: nothing beside the page`)
    t.same(
      asked.filter((url) => !url.startsWith('data:')),
      [`${server.shareEndpoint}${path}`],
      `${name}, ${view}: no other request`,
    )
    t.same(complaints, [])
    await pictureOf(page, `${name} ${view}`)
    await page.context().close()
  }
}

if (browserMissing !== undefined) tap.comment(`pages of shares: ${browserMissing}`)

test('the page of a file', { skip: browserMissing ?? false }, async (t) => {
  const { token } = await server.share('report.pdf', {
    fileName: LONG_NAME,
    maximumDownloads: 3,
    expiresMicroseconds: microsecondsOf(Date.UTC(2099, 0, 31, 12) * 1000),
  })
  await inEveryView(t, `/s/${token}`, 'file', async (page) => {
    t.equal(await page.title(), LONG_NAME)
    t.match(await page.textContent('h1'), LONG_NAME)
    t.match(
      await page.textContent('dl'),
      /5\.1 MiB \(5,300,000 bytes\)[^]*application\/pdf[^]*31 January 2099, 12:00 UTC[^]*3/,
    )
  })
})

test('the page of a password, a wrong one, and what is gone', { skip: browserMissing ?? false }, async (t) => {
  const locked = await server.share('report.pdf', { password: PASSWORD })
  await inEveryView(t, `/s/${locked.token}`, 'password', async (page) => {
    t.notMatch(await page.content(), 'report.pdf')
    await page.focus('#password')
  })
  await inEveryView(t, `/s/${'A'.repeat(43)}`, 'unknown', async (page) => {
    t.match(await page.textContent('main'), 'does not exist')
  })
})

test('a file is downloaded without a script, by keyboard alone', { skip: browserMissing ?? false }, async (t) => {
  if (browser === undefined) return
  const { token } = await server.share('note.txt', { password: PASSWORD, fileName: 'Notiz für Ödön.txt' })
  const options = { javaScriptEnabled: false, acceptDownloads: true }
  const { page, complaints } = await watchedPage(browser, server.shareEndpoint, options)
  const referers: (string | undefined)[] = []
  page.on('request', (request) => referers.push(request.headers()['referer']))
  await page.goto(`${server.shareEndpoint}/s/${token}`)
  await page.keyboard.press('Tab')
  await page.keyboard.type('wrong')
  await page.keyboard.press('Enter')
  await page.waitForSelector('[role=alert]')
  t.equal(await page.textContent('[role=alert]'), 'The password is wrong.')
  await pictureOf(page, 'wrong password')
  await page.keyboard.press('Tab')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForSelector('a.action')
  t.match(page.url(), new RegExp(`/s/${token}\\?ticket=`))
  await pictureOf(page, 'unlocked')
  const downloaded = page.waitForEvent('download')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const download = await downloaded
  t.equal(download.suggestedFilename(), 'Notiz für Ödön.txt')
  const pieces: Buffer[] = []
  for await (const piece of await download.createReadStream()) pieces.push(piece as Buffer)
  t.equal(Buffer.concat(pieces).toString(), 'a note of somebody')
  t.same(new Set(referers), new Set([undefined]), 'no address is told to anybody')
  t.same(complaints, [])
  await page.context().close()
})

/** A site of somebody else, with one page. */
async function siteWith(t: Test, html: string): Promise<string> {
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(html)
  })
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => site.close())
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
}

/** A picture of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=', 'base64')

test('embeds are shown where they may be, and run nowhere', { skip: browserMissing ?? false }, async (t) => {
  if (browser === undefined) return
  await server.put('pixel.gif', PIXEL, [['content-type', 'image/gif']])
  const other = await siteWith(t, '<!doctype html><title>other</title>')
  const allowed = await siteWith(t, '<!doctype html><title>allowed</title>')
  const gif = await server.embed('pixel.gif', { allowedOrigins: [allowed] })
  const note = await server.embed('note.txt', { allowedOrigins: [allowed] })
  const html = await server.embed('page.html', { allowedOrigins: [allowed] })
  const of = ({ token }: { readonly token: string }) => `${server.embedEndpoint}/e/${token}`
  const seen = async (site: string) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(site)
    const width = await page.evaluate(`new Promise((resolve) => {
      const image = new Image()
      image.onload = () => resolve(image.naturalWidth)
      image.onerror = () => resolve('none')
      image.src = '${of(gif)}'
    })`)
    const fetched = await page.evaluate(`fetch('${of(note)}').then((answer) => answer.text(), () => 'none')`)
    await page.evaluate(`{
      const frame = document.createElement('iframe')
      frame.src = '${of(note)}'
      document.body.append(frame)
      new Promise((resolve) => { frame.onload = resolve })
    }`)
    await page.waitForTimeout(300)
    const framed = await page
      .frames()[1]
      ?.evaluate('document.body?.innerText ?? ""')
      .catch(() => 'none')
    await context.close()
    return { width, fetched, framed }
  }
  t.same(await seen(allowed), { width: 1, fetched: 'a note of somebody', framed: 'a note of somebody' })
  const denied = await seen(other)
  t.same([denied.width, denied.fetched], ['none', 'none'])
  t.notMatch(String(denied.framed), 'a note of somebody')
  const context = await browser.newContext({ acceptDownloads: true })
  const page = await context.newPage()
  const downloaded = page.waitForEvent('download')
  await page.goto(of(html)).catch(() => undefined)
  t.equal((await downloaded).suggestedFilename(), 'page.html', 'a page is downloaded, not shown')
  await page.goto(of(note))
  t.equal(await page.evaluate('window.origin'), 'null', 'what is shown has no origin of ours')
  await context.close()
})
