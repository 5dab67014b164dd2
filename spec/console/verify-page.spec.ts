/**
 * The page that verifies proof bundles: one file, opened from the disk in a browser.
 * Proves: RES-VER-05.
 */
import { createHash } from 'node:crypto'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import tap, { type Test, test } from 'tap'
import { run } from '../cli/command-runner.ts'
import { hindrances } from '../support/browser/axe.ts'
import { browserMissing, launchBrowser, type WatchedPage, watchedPage } from '../support/browser/browser.ts'
import { residentOfBrowser } from '../support/resident.ts'
import { BROKEN, GOLDEN_BUNDLES, VALID } from '../support/proofs/proof-goldens.ts'
import {
  bundleBytes,
  GOLDEN_FILE,
  GOLDEN_OBJECT,
  GOLDEN_PUBLIC_KEY,
  signed,
} from '../support/proofs/proof-statements.ts'
import type { Outcome } from '../support/proofs/proof-verdicts.ts'

const directory = tap.testdir()
const pagePath = join(directory, 'verify.html')
const address = pathToFileURL(pagePath).href

/** Says that browsers are missing, loudly, or writes the page and starts one. */
async function started(): Promise<Browser | undefined> {
  if (browserMissing !== undefined) {
    process.stderr.write(`${browserMissing}\n`)
    tap.pass(browserMissing)
    return undefined
  }
  const made = await run(['proof', 'page', '--output', pagePath])
  if (made.exitCode !== 0) throw new Error(made.stderr)
  const browser = await launchBrowser()
  tap.teardown(() => browser.close())
  return browser
}

interface Expected {
  readonly valid: Readonly<Record<string, Outcome>>
  readonly broken: Readonly<Record<string, Outcome>>
}
const expected = JSON.parse(readFileSync(join(GOLDEN_BUNDLES, 'expected.json'), 'utf8')) as Expected

/** The page from the disk, with the key already typed. */
async function opened(browser: Browser, t: Test, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const watched = await watchedPage(browser, address, options)
  t.teardown(() => watched.page.context().close())
  await watched.page.goto(address)
  await watched.page.getByLabel('Public key of the deployment').fill(GOLDEN_PUBLIC_KEY)
  return watched
}

function asFile(name: string, bytes: Buffer): { name: string; mimeType: string; buffer: Buffer } {
  return { name, mimeType: 'application/octet-stream', buffer: bytes }
}

/** Chooses a bundle, verifies, and reads the report. */
async function outcomeOn(page: Page, bundle: Buffer): Promise<Outcome> {
  await page.getByLabel('Proof bundle').setInputFiles(asFile('bundle.json', bundle))
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('heading', { name: 'What it does not prove' }).waitFor()
  const verdict = (await page.locator('.verdict').textContent()) ?? ''
  const [statuses, names] = await Promise.all([
    page.locator('.checks .badge').allTextContents(),
    page.locator('.checks strong').allTextContents(),
  ])
  const checks = Object.fromEntries(names.map((name, index) => [name, statuses[index] ?? '']))
  return { verdict: verdict.split(':')[0]?.toLowerCase() ?? '', checks }
}

/** Verifies a bundle with one byte after another changed, in the page itself: each answer as a text. */
const FLIP_ALL = `async ([encoded, input, form]) => {
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
  const verdicts = []
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = bytes.slice()
    changed[at] ^= 1
    const transfer = new DataTransfer()
    transfer.items.add(new File([changed], 'flipped.json'))
    input.files = transfer.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
    await new Promise((seen) => setTimeout(seen))
    form.requestSubmit()
    let shown = null
    while (shown === null) {
      await new Promise((seen) => setTimeout(seen))
      shown = document.querySelector('.verdict, .error-box')
    }
    verdicts.push(shown.textContent)
  }
  return verdicts
}`

const LARGE_BYTES = 1024 ** 3

function sayingTheSame(browser: Browser): void {
  test('is one file that says of every golden bundle what the command says', async (t) => {
    const { page, complaints } = await opened(browser, t)
    await page.getByLabel('File', { exact: true }).setInputFiles(join(GOLDEN_BUNDLES, 'file.txt'))
    for (const [name, bundle] of Object.entries(VALID)) {
      const { verdict, checks } = expected.valid[name] as Outcome
      t.same(await outcomeOn(page, Buffer.from(JSON.stringify(bundle))), { verdict, checks }, name)
    }
    for (const [name, bytes] of Object.entries(BROKEN)) {
      const { verdict, checks } = expected.broken[name] as Outcome
      t.same(await outcomeOn(page, bytes), { verdict, checks }, name)
    }
    t.same(complaints, [], 'it asks for nothing')
  })
}

function refusingChanges(browser: Browser): void {
  test('refuses a bundle with any byte changed, and a file with any byte changed', async (t) => {
    const { page, complaints } = await opened(browser, t)
    await page.getByLabel('File', { exact: true }).setInputFiles(join(GOLDEN_BUNDLES, 'file.txt'))
    const bytes = bundleBytes(VALID['without-type'])
    t.match(await outcomeOn(page, bytes), { verdict: 'verified' })
    const [input, form] = [
      await page.getByLabel('Proof bundle').elementHandle(),
      await page.locator('form').elementHandle(),
    ]
    const flip = `(argument) => (${FLIP_ALL})(argument)`
    const verdicts = (await page.evaluate(
      new Function(`return ${flip}`)() as (argument: unknown) => Promise<string[]>,
      [bytes.toString('base64'), input, form],
    )) as string[]
    t.equal(verdicts.length, bytes.length)
    t.same(
      verdicts.flatMap((verdict, at) => (/^(?:FAILED|Not proved)/.test(verdict) ? [] : [`${at}: ${verdict}`])),
      [],
      'no changed byte is taken',
    )
    for (let at = 0; at < GOLDEN_FILE.length; at += 1) {
      const changed = Buffer.from(GOLDEN_FILE)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      await page.getByLabel('File', { exact: true }).setInputFiles(asFile('file.txt', changed))
      t.match(await outcomeOn(page, bytes), { verdict: 'failed', checks: { payload: 'failed' } }, `byte ${at}`)
    }
    t.same(complaints, [])
  })
}

function hashingInPieces(browser: Browser): void {
  test('hashes a large file in pieces, and stops when it is told to', async (t) => {
    const large = join(directory, 'large')
    writeFileSync(large, '')
    truncateSync(large, LARGE_BYTES)
    const zeros = Buffer.alloc(2 ** 24)
    const hash = createHash('sha256')
    for (let at = 0; at < LARGE_BYTES; at += zeros.length) hash.update(zeros)
    const bundle = bundleBytes(signed({ object: { ...GOLDEN_OBJECT, size: LARGE_BYTES }, sha256: hash.digest('hex') }))
    const { page, complaints } = await opened(browser, t)
    await page.getByLabel('File', { exact: true }).setInputFiles(large)
    const before = await residentOfBrowser(browser)
    await page.getByLabel('Proof bundle').setInputFiles(asFile('bundle.json', bundle))
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Verify' }).waitFor()
    t.equal(await page.locator('.verdict').count(), 0, 'nothing is said of what was not read to the end')

    await page.getByRole('button', { name: 'Verify' }).click()
    let peak = before
    while ((await page.locator('.verdict').count()) === 0) {
      peak = Math.max(peak, await residentOfBrowser(browser))
      await page.waitForTimeout(100)
    }
    t.match(await page.locator('.verdict').textContent(), /^Verified/)
    t.ok(peak - before < 256 * 1024 ** 2, `${Math.round((peak - before) / 1024 ** 2)} MiB more than before`)
    t.same(complaints, [])
  })
}

function byKeyboard(browser: Browser): void {
  test('by keyboard alone', async (t) => {
    const watched = await watchedPage(browser, address)
    const { page } = watched
    t.teardown(() => page.context().close())
    const choices = [join(GOLDEN_BUNDLES, 'file.txt'), join(GOLDEN_BUNDLES, 'valid/unavailable.json')]
    page.on('filechooser', (chooser) => void chooser.setFiles(choices.shift() ?? []))
    await page.goto(address)
    for (const name of ['file.txt', 'unavailable.json']) {
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByText(`${name},`).waitFor()
    }
    await page.keyboard.press('Tab')
    await page.keyboard.type(GOLDEN_PUBLIC_KEY)
    await page.keyboard.press('Enter')
    await page.locator('.verdict').waitFor()
    t.match(await page.locator('.verdict').textContent(), /^Verified/)
    t.same(watched.complaints, [])
  })
}

function forEverybody(browser: Browser): void {
  test('is accessible, light and dark, on a phone', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await opened(browser, t, { colorScheme, viewport: { width: 320, height: 640 } })
      t.same(await hindrances(page), [], `${colorScheme}, empty`)
      await page.getByLabel('File', { exact: true }).setInputFiles(join(GOLDEN_BUNDLES, 'file.txt'))
      for (const name of ['broken-link', 'newer-format']) {
        await outcomeOn(page, BROKEN[name] as Buffer)
        t.same(await hindrances(page), [], `${colorScheme}, ${name}`)
        const width = await page.evaluate('document.documentElement.scrollWidth')
        t.equal(width, 320, `${colorScheme}, ${name}: nothing is cut off`)
      }
    }
  })
}

const browser = await started()
if (browser !== undefined) {
  sayingTheSame(browser)
  refusingChanges(browser)
  hashingInPieces(browser)
  byKeyboard(browser)
  forEverybody(browser)
}
