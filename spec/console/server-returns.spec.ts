/**
 * A server that is killed while somebody is in the middle of something, and comes back.
 * Proves: DO-NOT-18.
 */
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { ApiClient, bearer } from '../support/api-client.ts'
import { hindrances } from '../support/browser/axe.ts'
import { browserMissing, launchBrowser, slowUploads, watchedPage } from '../support/browser/browser.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { goTo, signIn, SYSTEM_TOKEN } from './open-console.ts'

const FILE = Buffer.alloc(48 * 1024 ** 2, 'the bytes of a file ')
const AWAY = 'The screen stays as it is and continues when the server is back.'

/** A server on a port that stays the same when it is started again. */
class Deployment {
  readonly #directory = temporaryDirectory()
  readonly #port: number
  #server: ProcessServer | undefined

  private constructor(port: number) {
    this.#port = port
  }

  static async started(): Promise<Deployment> {
    const made = new Deployment(await freePort())
    await made.start()
    return made
  }

  get server(): ProcessServer {
    if (this.#server === undefined) throw new Error('the server is not started')
    return this.#server
  }

  async start(): Promise<void> {
    this.#server = await startProcess({
      dataDirectory: this.#directory,
      environment: {
        OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: SYSTEM_TOKEN,
        OBJECT_STORE_CONSOLE_BIND: `127.0.0.1:${this.#port}`,
      },
    })
  }

  async ask<T>(method: string, path: string, body?: object): Promise<T> {
    const api = ApiClient.of(this.server.apiEndpoint, bearer(SYSTEM_TOKEN), () => {})
    try {
      return await api.get<T>(method, path, body)
    } finally {
      api.close()
    }
  }

  async end(): Promise<void> {
    await this.server.stop()
    rmSync(this.#directory, { recursive: true })
  }
}

const started = browserMissing === undefined ? await Deployment.started() : undefined
const browser = browserMissing === undefined ? await launchBrowser() : undefined
tap.teardown(async () => {
  await browser?.close()
  await started?.end()
})

async function opened(t: Test) {
  if (browser === undefined || started === undefined) throw new Error(browserMissing)
  const watched = await watchedPage(browser, started.server.consoleUrl)
  t.teardown(() => watched.page.context().close())
  await watched.page.goto(started.server.consoleUrl)
  await signIn(watched.page, SYSTEM_TOKEN)
  return { ...watched, deployment: started }
}

if (browserMissing !== undefined) {
  process.stderr.write(`${browserMissing}\n`)
  tap.pass(browserMissing)
} else {
  test('a list, a form and an upload go on after kill -9', async (t) => {
    const { page, complaints, deployment } = await opened(t)
    await deployment.ask('POST', '/buckets', { name: 'killed' })
    await deployment.ask('PUT', '/buckets/killed/versioning', { status: 'Enabled' })
    const directory = t.testdir()
    const [file, small] = [join(directory, 'large.bin'), join(directory, 'small.txt')]
    writeFileSync(file, FILE)
    writeFileSync(small, 'a note')
    await goTo(page, 'buckets/killed/objects')
    const input = page.locator('input[type=file]').first()
    await page.getByText('There are no objects').waitFor()
    await input.setInputFiles(small)
    await page.getByText('1 sent').waitFor()
    await page.getByRole('link', { name: 'small.txt' }).click()
    await slowUploads(page, 8 * 1024 ** 2)
    await input.setInputFiles(file)
    await page.locator('progress[value]:not([value="0"])').waitFor()
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy an object' })
    await dialog.getByLabel('Key').fill('typed/before.txt')
    await deployment.server.kill9()

    await page.getByText(AWAY).waitFor()
    await page.keyboard.press('Enter')
    await dialog.getByText('UNREACHABLE').waitFor()
    t.match(await page.getByLabel('Uploads').textContent(), '1 upload to go')
    t.match(await page.getByLabel('Uploads').textContent(), 'They begin again when the server is back')
    t.equal(await page.locator('.list-row').count(), 1, 'the list is still there')
    t.same(await hindrances(page), [])

    await deployment.start()
    await page.getByText(AWAY).waitFor({ state: 'detached' })
    t.equal(await dialog.getByLabel('Key').inputValue(), 'typed/before.txt')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Uploads are done, 2 sent').waitFor()
    await page.getByRole('link', { name: 'large.bin' }).waitFor()
    const { versions } = await deployment.ask<{ versions: { key: string; size: number }[] }>(
      'GET',
      '/buckets/killed/object-versions',
    )
    t.same(
      versions.map(({ key, size }) => [key, size]),
      [
        ['large.bin', FILE.length],
        ['small.txt', 6],
        ['typed/before.txt', 6],
      ],
      'each once, and nothing of the upload that was cut off',
    )
    const hash = createHash('sha256').update(FILE).digest('hex')
    t.match(await deployment.ask('GET', '/buckets/killed/object/large.bin'), { sha256: hash })
    t.same(complaints, [])
  })

  test('the live tail and the overview go on after kill -9', async (t) => {
    const { page, complaints, deployment } = await opened(t)
    await goTo(page, 'audit?bucket=killed')
    await page.getByRole('table', { name: 'Audit records' }).waitFor()
    const rows = async () => Number(await page.getByRole('table').getAttribute('aria-rowcount'))
    const before = await rows()
    await page.getByLabel('Show new records as they come').check()
    const other = await opened(t)
    await goTo(other.page, 'overview')
    await other.page.getByText('On the disk').waitFor()
    await deployment.server.kill9()
    await page.getByText(AWAY).waitFor()
    t.equal(await rows(), before, 'the records are still there')
    await other.page.getByRole('link', { name: 'Buckets' }).click()
    await other.page.getByRole('alert').waitFor()
    t.same(await hindrances(other.page), [])
    await deployment.start()
    await page.getByText(AWAY).waitFor({ state: 'detached' })
    await deployment.ask('GET', '/buckets/killed/object/small.txt')
    while ((await rows()) === before) await page.waitForTimeout(100)
    t.equal(await rows(), before + 1, 'no record is missed, and none comes twice')
    t.ok(await page.getByLabel('Show new records as they come').isChecked())
    await other.page.getByRole('link', { name: 'killed' }).waitFor()
    t.same([...complaints, ...other.complaints], [])
  })
}
