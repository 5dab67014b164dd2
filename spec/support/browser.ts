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

/** A page in a profile of its own. */
export async function watchedPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const complaints: string[] = []
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
