/** Buckets and objects in a browser: the tasks of an operator, names of strangers, and bytes that would like to be pages. */
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Names that would be something else if they were taken for markup, a path or a text of one direction. */
const NAMES = [
  '<img src=x onerror="document.title=\'broken\'">',
  '../up',
  'a/../b',
  '%2e%2e%2f',
  'evil\u202egnp.exe',
  'new\nline\tand\u0000zero',
  '日本語 👋.txt',
  ' leading and trailing ',
  '?a=b#c&d',
  `${'ü'.repeat(511)}xx`,
]

function names({ api, tokens, open, put }: OpenConsole): void {
  test('names of strangers are texts, and lead to their objects', async (t) => {
    await api.get('POST', '/buckets', { name: 'names' })
    for (const name of NAMES) await put('names', name, `content of ${NAMES.indexOf(name)}`)
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'buckets/names/objects?flat=yes')
    const table = page.getByRole('table', { name: 'Objects' })
    await table.waitFor()
    t.same(await hindrances(page), [])
    t.match(await table.textContent(), 'evilU+202Egnp.exe')
    for (const [index, name] of NAMES.entries()) {
      await goTo(page, `buckets/names/objects?flat=yes&key=${encodeURIComponent(name)}`)
      await page.getByLabel('Preview').getByText(`content of ${index}`, { exact: true }).waitFor()
    }
    t.same(await hindrances(page), [])
    await goTo(page, 'buckets/names/objects')
    await page.getByRole('link', { name: /\.\.\/$/ }).click()
    await page.getByRole('link', { name: 'up', exact: true }).click()
    await page.getByLabel('Preview').getByText('content of 1', { exact: true }).waitFor()
    await page.reload()
    t.match(await page.title(), 'Object Store')
    t.same(complaints, [])
  })

  test('what would like to be a page is a text, a picture is a picture', async (t) => {
    await api.get('POST', '/buckets', { name: 'bytes' })
    const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>parent.document.title="broken"</script></svg>'
    await put('bytes', 'page.html', `<html><body>${script}</body></html>`, 'text/html')
    await put('bytes', 'drawing.svg', script, 'image/svg+xml')
    await put('bytes', 'polyglot.gif', `GIF89a=1;${script}`, 'text/html')
    await put('bytes', 'dot.png', Buffer.from(PNG, 'base64'), 'text/html')
    await put('bytes', 'not.pdf', script, 'application/pdf')
    await put('bytes', 'binary', Buffer.from([0, 1, 2]), 'text/html')
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    for (const key of ['page.html', 'drawing.svg', 'not.pdf']) {
      await goTo(page, `buckets/bytes/objects?key=${key}`)
      await page.getByLabel('Preview').getByText('<script>').waitFor()
    }
    for (const key of ['dot.png', 'polyglot.gif']) {
      await goTo(page, `buckets/bytes/objects?key=${key}`)
      const picture = page.getByRole('img', { name: `Preview of ${key}` })
      await picture.waitFor()
      t.match(await picture.getAttribute('src'), /^blob:/)
    }
    await goTo(page, 'buckets/bytes/objects?key=binary')
    await page.getByText('No preview is available').waitFor()
    t.equal(page.context().pages().length, 1)
    t.notMatch(await page.title(), 'broken')
    t.same(complaints, [])
  })
}

function keyboard({ api, tokens, open, put }: OpenConsole): void {
  test('a bucket is made, set up and deleted by keyboard alone', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets')
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).focus()
      await page.keyboard.press('Enter')
    }
    await press('Create a bucket')
    await page.keyboard.type('by-keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by-keyboard' }).waitFor()
    await page.getByRole('link', { name: 'Settings' }).focus()
    await page.keyboard.press('Enter')
    await press('Enable versioning')
    await page.getByRole('dialog').getByRole('button', { name: 'Enable versioning' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Enabled: overwriting').waitFor()
    await press('Change the quota')
    await page.getByLabel('Bytes', { exact: true }).focus()
    await page.keyboard.type('1.5 GiB')
    await page.keyboard.press('Enter')
    await page.getByText('of 1.5 GiB').waitFor()
    await press('Add a rule')
    await page.getByLabel('Objects expire').focus()
    await page.keyboard.type('30')
    await page.keyboard.press('Enter')
    await page.getByText('objects expire after 30 days').waitFor()
    t.same(await hindrances(page), [])
    t.match(await api.get('GET', '/buckets/by-keyboard'), {
      versioning: 'enabled',
      quota: { bytes: { mode: 'limit', bytes: 1.5 * 1024 ** 3 }, objects: { mode: 'unlimited' } },
    })
    await press('Delete this bucket')
    await page.keyboard.type('by-keyboar')
    await page.keyboard.press('Enter')
    t.equal((await api.call('GET', '/buckets/by-keyboard')).status, 200, 'the whole name is asked for')
    await page.keyboard.type('d')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Buckets' }).waitFor()
    t.equal((await api.call('GET', '/buckets/by-keyboard')).status, 404)
    t.same(complaints, [])
  })

  test('versions are seen, restored and deleted; arrows go through the list', async (t) => {
    await api.get('POST', '/buckets', { name: 'versions' })
    await api.get('PUT', '/buckets/versions/versioning', { status: 'Enabled' })
    for (const key of ['a', 'b', 'c']) await put('versions', key, `first ${key}`)
    await put('versions', 'b', 'second b')
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/versions/objects')
    await page.getByRole('link', { name: 'a', exact: true }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByLabel('Preview').getByText('second b').waitFor()
    await page.getByRole('button', { name: 'Close the details' }).press('Enter')
    await page.getByLabel('Details').waitFor({ state: 'detached' })
    t.equal(await page.evaluate('document.activeElement.textContent'), 'b', 'the focus is where it was')
    await page.keyboard.press('Enter')
    await page.getByLabel('Preview').getByText('second b').waitFor()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByLabel('Preview').getByText('first b').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('b')
    t.same(await hindrances(page), [])
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'b', exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Versions').check()
    await page.getByRole('table').getByText('delete marker').waitFor()
    t.same(await hindrances(page), [])
    const { versions } = await api.get<{ versions: readonly unknown[] }>(
      'GET',
      '/buckets/versions/object-versions?prefix=b',
    )
    t.match(versions, [{ delete_marker: true }, { size: 7 }, { size: 8 }, { size: 7 }])
    t.same(complaints, [])
  })
}

function transfers({ api, tokens, open }: OpenConsole): void {
  test('files and folders go up, and nothing is replaced unasked', async (t) => {
    await api.get('POST', '/buckets', { name: 'uploads' })
    const directory = t.testdir()
    mkdirSync(join(directory, 'folder/deep'), { recursive: true })
    writeFileSync(join(directory, 'folder/one.txt'), 'one')
    writeFileSync(join(directory, 'folder/deep/two.txt'), 'two')
    writeFileSync(join(directory, 'large.bin'), Buffer.alloc(9_000_000, 'large'))
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'buckets/uploads/objects')
    const [files, folder] = [page.locator('input[type=file]').nth(0), page.locator('input[type=file]').nth(1)]
    await page.getByRole('button', { name: 'Upload files' }).waitFor()
    await files.setInputFiles(join(directory, 'large.bin'))
    await folder.setInputFiles(join(directory, 'folder'))
    await page.getByText('Uploads are done, 3 sent').waitFor()
    await page.getByRole('link', { name: 'folder/' }).waitFor()
    t.same(await hindrances(page), [])
    t.match(await api.get('GET', '/buckets/uploads/object/folder%2Fdeep%2Ftwo.txt'), {
      size: 3,
      content_type: 'text/plain',
    })
    writeFileSync(join(directory, 'large.bin'), 'small now')
    await files.setInputFiles(join(directory, 'large.bin'))
    await page.getByText('There is an object of this name').waitFor()
    t.match(await api.get('GET', '/buckets/uploads/object/large.bin'), { size: 9_000_000 }, 'it is kept')
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await page.getByText('4 sent').waitFor()
    t.match(await api.get('GET', '/buckets/uploads/object/large.bin'), { size: 9 })
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    t.same(complaints, [])
  })

  test('a download is a file with the bytes of the object', async (t) => {
    const bytes = Buffer.alloc(20_000_000, 'the bytes of a download ')
    const raw = await api.send('PUT', '/api/v1/buckets/uploads/object/d%2Fbig%22%0A.bin', { raw: bytes })
    t.equal(raw.status, 201)
    const { page, complaints } = await open(t, { acceptDownloads: true })
    await signIn(page, tokens.auditor)
    await goTo(page, `buckets/uploads/objects?key=${encodeURIComponent('d/big"\n.bin')}`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    const hash = createHash('sha256')
    for await (const piece of createReadStream(await download.path())) hash.update(piece as Buffer)
    t.equal(hash.digest('hex'), createHash('sha256').update(bytes).digest('hex'))
    t.match(download.suggestedFilename(), /big.+\.bin/)
    t.same(complaints, [])
  })
}

await withConsole((opened) => {
  names(opened)
  keyboard(opened)
  transfers(opened)
})
