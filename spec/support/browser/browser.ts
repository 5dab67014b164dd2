/** Debian's Chromium, driven for specs. Nothing is downloaded: a machine without it leaves these specs out, and says so. */
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Why the specs cannot be run here; undefined where they can. */
export const browserMissing = existsSync(CHROMIUM) ? undefined : `NOT RUN: there is no ${CHROMIUM} (set CHROMIUM)`

/** Root has no sandbox of its own to start in. */
export function launchBrowser(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: CHROMIUM, args })
}

/** What a page did that it should not have. */
export interface WatchedPage {
  readonly page: Page
  /** Errors of scripts, breaches of the content security policy, requests to another origin, cookies that were set. */
  readonly complaints: string[]
}

/** Of the page and of every tab that it opens; also of breaches that a browser writes nothing about. */
const COUNT_BREACHES = `addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) =>
  reportBreach(effectiveDirective + ' ' + blockedURI + ' in ' + sourceFile))`

/** A page in a profile of its own. */
export async function watchedPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const complaints: string[] = []
  await context.exposeFunction('reportBreach', (what: string) => complaints.push(`breach of the policy: ${what}`))
  await context.addInitScript(COUNT_BREACHES)
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(`error: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    // A refused request is written there too, with its status.
    const text = message.text()
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) complaints.push(`console: ${text}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !/^(blob|data):/.test(url)) complaints.push(`request to ${url}`)
  })
  page.on('response', (response) => {
    if (response.headers()['set-cookie'] !== undefined) complaints.push(`cookie from ${response.url()}`)
  })
  return { page, complaints }
}

/** Slows what a page sends down, so that an upload is under way for a while. */
export async function slowUploads(page: Page, bytesPerSecond: number): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const network = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond }
  await session.send('Network.emulateNetworkConditions', network)
}
