/** 1 GiB up and down through the web console: neither the browser nor the server holds it in memory. */
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { goTo, type OpenConsole, signIn, withConsole } from '../console/open-console.ts'
import { residentOf, residentOfBrowser } from '../support/resident.ts'

const FILE_BYTES = 1024 ** 3
const PIECE = Buffer.alloc(16 * 1024 ** 2, 'what the file holds, over and over; ')
/** More than any of them had before. An eighth of the file; what a browser has of its own is a few times 10 MiB. */
const MORE_MAXIMUM = 128 * 1024 ** 2

const LOOKS_MINIMUM = 5

/** Writes the file. @returns its SHA-256 in hexadecimal */
function writeLarge(path: string): string {
  const hash = createHash('sha256')
  const file = openSync(path, 'w')
  for (let at = 0; at < FILE_BYTES; at += PIECE.length) {
    writeSync(file, PIECE)
    hash.update(PIECE)
  }
  closeSync(file)
  return hash.digest('hex')
}

/** Resident bytes of the page, of all of the browser, and of the server. */
async function measured({ browser, server }: OpenConsole): Promise<Record<string, number>> {
  return {
    page: await residentOfBrowser(browser),
    browser: await residentOfBrowser(browser, 'all'),
    server: residentOf(server.process.pid ?? 0),
  }
}

/** How much more than before each had at most, until `isOver` says so. */
async function peaks(opened: OpenConsole, before: Record<string, number>, isOver: () => Promise<boolean>) {
  const most = { ...before }
  let looks = 0
  while (!(await isOver())) {
    const now = await measured(opened)
    for (const [name, bytes] of Object.entries(now)) most[name] = Math.max(most[name] ?? 0, bytes)
    looks += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  if (looks < LOOKS_MINIMUM) throw new Error(`looked only ${looks} times: that says nothing`)
  return Object.entries(most).map(([name, bytes]) => ({ name, more: bytes - (before[name] ?? 0) }))
}

await withConsole((opened) => {
  const { api, open, tokens } = opened
  test('1 GiB goes up and comes down in bounded memory', async (t) => {
    await api.get('POST', '/buckets', { name: 'large' })
    const path = join(tap.testdir(), 'large.bin')
    const sha256 = writeLarge(path)
    const { page, complaints } = await open(t, { acceptDownloads: true })
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/large/objects')
    await page.getByText('There are no objects').waitFor()

    const beforeUpload = await measured(opened)
    await page.locator('input[type=file]').first().setInputFiles(path)
    const done = page.getByText('Uploads are done, 1 sent')
    for (const { name, more } of await peaks(opened, beforeUpload, async () => (await done.count()) > 0)) {
      t.ok(more < MORE_MAXIMUM, `upload, ${name}: ${Math.round(more / 1024 ** 2)} MiB more`)
    }
    t.match(await api.get('GET', '/buckets/large/object/large.bin'), { size: FILE_BYTES, sha256 })

    await page.getByRole('link', { name: 'large.bin' }).click()
    await page.getByText('SHA-256').waitFor()
    const beforeDownload = await measured(opened)
    const downloads = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    let saved: string | undefined
    const saving = downloads.then(async (download) => {
      saved = await download.path()
    })
    for (const { name, more } of await peaks(opened, beforeDownload, async () => saved !== undefined)) {
      t.ok(more < MORE_MAXIMUM, `download, ${name}: ${Math.round(more / 1024 ** 2)} MiB more`)
    }
    await saving
    t.equal(statSync(saved ?? '').size, FILE_BYTES)
    const hash = createHash('sha256')
    for await (const piece of createReadStream(saved ?? '')) hash.update(piece as Buffer)
    t.equal(hash.digest('hex'), sha256, 'byte for byte')
    t.same(complaints, [])
  })
})
