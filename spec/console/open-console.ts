/** A server process with the console, and somebody in a browser who uses it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import tap, { type Test } from 'tap'
import { ApiClient, bearer } from '../support/api-client.ts'
import { browserMissing, launchBrowser, type WatchedPage, watchedPage } from '../support/browser/browser.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'

/** Of the system administrator, from the configuration. */
export const SYSTEM_TOKEN = 'the-system-token-of-the-console-specs-0123456789'

export interface OpenConsole {
  readonly server: ProcessServer
  readonly browser: Browser
  /** The system administrator, beside the console. */
  readonly api: ApiClient
  /** A token of each role. */
  readonly tokens: Readonly<Record<'system-administrator' | 'storage-administrator' | 'auditor', string>>
  /** A page on the console that nobody has signed in to; at the end it must have had nothing to complain about. */
  open(t: Test, options?: BrowserContextOptions): Promise<WatchedPage>
  /** Puts an object there. */
  put(bucket: string, key: string, content: string | Buffer, type?: string): Promise<void>
}

/**
 * Says that browsers are missing, loudly, or runs what declares the cases.
 * @param environment more of the server's
 */
export async function withConsole(
  run: (open: OpenConsole) => void,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (browserMissing !== undefined) {
    process.stderr.write(`${browserMissing}\n`)
    tap.pass(browserMissing)
    return
  }
  const server = await startProcess({
    environment: { OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: SYSTEM_TOKEN, ...environment },
  })
  const browser = await launchBrowser()
  const api = ApiClient.of(server.apiEndpoint, bearer(SYSTEM_TOKEN), () => {})
  const issue = async (role: string) => {
    return (await api.get<{ token: string }>('POST', '/management-tokens', { name: role, role })).token
  }
  const tokens = {
    'system-administrator': await issue('system-administrator'),
    'storage-administrator': await issue('storage-administrator'),
    auditor: await issue('auditor'),
  }
  tap.teardown(async () => {
    await browser.close()
    api.close()
    await server.stop()
  })
  const open = async (t: Test, options?: BrowserContextOptions) => {
    const watched = await watchedPage(browser, server.consoleUrl, options)
    t.teardown(() => watched.page.context().close())
    await watched.page.goto(server.consoleUrl)
    return watched
  }
  const put = async (bucket: string, key: string, content: string | Buffer, type = 'text/plain') => {
    const target = `/api/v1/buckets/${bucket}/object/${encodeURIComponent(key)}`
    const answer = await api.send('PUT', target, { raw: content, headers: [['content-type', type]] })
    if (answer.status !== 201) throw new Error(`PUT ${target}: ${answer.status} ${answer.text}`)
  }
  run({ server, browser, api, tokens, open, put })
}

/** Signs in, by keyboard. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Sections' }).waitFor()
}

/** Goes to a screen, by its address after `#/`. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash
  }, `#/${address}`)
}
