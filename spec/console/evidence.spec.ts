/** Evidence in the console. */
import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

function asFile(name: string, buffer: Buffer): { name: string; mimeType: string; buffer: Buffer } {
  return { name, mimeType: 'text/plain', buffer }
}

function proving({ api, open, put, tokens }: OpenConsole): void {
  test('the chain is verified to its head by the page', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'evidence')
    await page.getByRole('button', { name: 'Verify the chain' }).press('Enter')
    await page.getByText('Every record is as it was written').waitFor()
    const head = (await page.locator('.facts code').textContent()) ?? ''
    t.match(head, /^\d+:[0-9a-f]{64}$/)
    t.same(await hindrances(page), [])
    t.same(complaints, [])
  })

  test('a held version is in the report, its bundle is saved, and the file verified with it here', async (t) => {
    await api.get('POST', '/buckets', { name: 'held', object_lock: true })
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'evidence/retention')
    await page.getByText('No version has a lock').waitFor()
    t.same(await hindrances(page), [], 'nothing is held')
    const retention = { mode: 'GOVERNANCE', period: { unit: 'days', value: 1 } }
    await api.get('PUT', '/buckets/held/default-retention', { default_retention: retention })
    await put('held', 'a/contract.txt', 'signed by both')
    await page.reload()
    await signIn(page, tokens.auditor)
    await page.getByRole('cell', { name: 'governance' }).waitFor()
    t.same(await hindrances(page), [], 'something is held')
    await page.getByRole('link', { name: 'held/a/contract.txt' }).press('Enter')
    t.same(await hindrances(page), [], 'the form of a bundle')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the bundle' }).press('Enter'),
    ])
    t.equal(download.suggestedFilename(), 'contract.txt.proof.json')
    const bundle = readFileSync(await download.path())
    const { deployment } = JSON.parse(bundle.toString()) as { deployment: { public_key: string } }

    await goTo(page, 'evidence/verify')
    await page.getByLabel('File', { exact: true }).setInputFiles(asFile('contract.txt', Buffer.from('signed by both')))
    await page.getByLabel('Proof bundle', { exact: true }).setInputFiles(asFile('proof.json', bundle))
    await page.getByLabel('Public key of the deployment').fill(deployment.public_key)
    await page.keyboard.press('Enter')
    await page.getByText('Verified: the file is the object').waitFor()
    t.same(await hindrances(page), [], 'verified')
    await page.getByLabel('File', { exact: true }).setInputFiles(asFile('contract.txt', Buffer.from('signed by none')))
    await page.getByRole('button', { name: 'Verify' }).press('Enter')
    await page.getByText('FAILED: the file and the bundle').waitFor()
    await goTo(page, 'evidence/bundle?bucket=held&key=none')
    await page.getByRole('button', { name: 'Save the bundle' }).press('Enter')
    await page.getByText('OBJECT_NOT_FOUND').waitFor()
    t.same(complaints, [])
  })
}

await withConsole(proving)
