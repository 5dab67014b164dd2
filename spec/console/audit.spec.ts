/**
 * The audit log in the console.
 * Proves: STA-AUD-02.
 */
import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { joinRecords, recordOf } from '../../planes/console/client/screens/audit/join-records.ts'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

function event(event_id: string, result: string, intent?: string) {
  return { event_id, result, metadata: intent === undefined ? {} : { intent_event_id: intent } }
}

test('an attempt and its outcome are one line, and an attempt without one stays', async (t) => {
  const [read, outcome, between, attempt, orphan] = [
    event('9', 'success'),
    event('8', 'failure', '3'),
    event('5', 'denied'),
    event('3', 'attempted'),
    event('1', 'attempted'),
  ] as const
  const lines = joinRecords([read, outcome, between, attempt, orphan])
  t.same(lines, [{ outcome: read }, { outcome, attempt }, { outcome: between }, { attempt: orphan }])
  t.same(lines.map(recordOf), [read, outcome, between, orphan])
  t.same(joinRecords([outcome]), [{ outcome }], 'the attempt is on a page that was not loaded')
})

/** In the page: as when its tab is put behind another one, or before it. */
function show(visible: boolean): void {
  Object.defineProperty(document, 'hidden', { configurable: true, value: !visible })
  document.dispatchEvent(new Event('visibilitychange'))
}

function reading({ api, open, put, tokens }: OpenConsole): void {
  test('filters are in the address, details have both records, new records come by themselves', async (t) => {
    await api.get('POST', '/buckets', { name: 'watched' })
    await put('watched', 'a/first', 'content')
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'audit')
    await page.getByRole('table', { name: 'Audit records' }).waitFor()
    t.same(await hindrances(page), [], 'the list')
    await page.getByText('Filter', { exact: true }).click()
    await page.getByLabel('Bucket').fill('watched')
    await page.getByLabel('Key', { exact: true }).fill('a/first')
    await page.keyboard.press('Enter')
    await page.waitForURL(/bucket=watched&key=a%2Ffirst/)
    await page.getByRole('row').filter({ hasText: 'GET /auth/session' }).first().waitFor({ state: 'detached' })
    const rows = page.getByRole('row').filter({ hasText: 'watched/a/first' })
    await rows.first().waitFor()
    t.equal(await rows.count(), 1, 'the attempt and its outcome are one line')
    t.same(await hindrances(page), [], 'filters')
    await rows.first().getByRole('button').press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Outcome' }).waitFor()
    await dialog.getByRole('heading', { name: 'Attempt' }).waitFor()
    t.same(await hindrances(page), [], 'details')
    await page.keyboard.press('Escape')
    await page.getByLabel('Show new records as they come').check()
    await put('watched', 'a/first', 'other content')
    await rows.nth(1).waitFor()
    t.same(complaints, [])
  })

  test('an export is saved, and its manifest names it', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'audit?bucket=watched')
    await page.getByRole('button', { name: 'Export' }).press('Enter')
    t.same(await hindrances(page), [], 'the form of an export')
    const [records] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'Export' }).press('Enter'),
    ])
    t.equal(records.suggestedFilename(), 'audit.json')
    const exported = JSON.parse(readFileSync(await records.path(), 'utf8')) as unknown[]
    t.ok(exported.length >= 3)
    await page.getByText(/saved as export \d{16}-[0-9a-f]{16}/).waitFor()
    const [manifest] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the manifest' }).press('Enter'),
    ])
    t.match(JSON.parse(readFileSync(await manifest.path(), 'utf8')), { filter: { bucket: 'watched' } })
    t.same(complaints, [])
  })
}

function tailing({ api, open, tokens }: OpenConsole): void {
  test('a tail that more comes to than it can show says so, and goes on at the end', async (t) => {
    const { page, complaints } = await open(t)
    await page.route('**/audit/events?*order=asc*', (route) =>
      route.continue({ url: route.request().url().replace('limit=500', 'limit=1') }),
    )
    await signIn(page, tokens.auditor)
    await goTo(page, 'audit')
    await page.getByRole('table').waitFor()
    for (const name of ['passed-1', 'passed-2', 'passed-3']) await api.get('POST', '/buckets', { name })
    await page.getByLabel('Show new records as they come').check()
    await page.getByText('More records come than can be shown').waitFor()
    t.same(complaints, [])
  })

  test('the tail of a page that nobody sees asks for nothing, and goes on when it is seen again', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'audit')
    await page.getByRole('table').waitFor()
    await page.clock.install()
    await page.getByLabel('Show new records as they come').check()
    let asked = 0
    page.on('request', () => {
      asked += 1
    })
    const looks = () => page.waitForRequest(/audit\/events.*order=asc/)
    const look = looks()
    await page.clock.runFor(1000)
    await (await look).response()
    await page.evaluate(show, false)
    await page.clock.runFor(60_000)
    await api.get('POST', '/buckets', { name: 'made-unseen' })
    const before = asked
    await page.clock.runFor(3_600_000)
    t.equal(asked, before, 'not asked for an hour')
    const again = looks()
    await page.evaluate(show, true)
    await again
    await page.getByRole('row').filter({ hasText: 'made-unseen' }).first().waitFor()
    t.same(complaints, [])
  })

  test('the tail leaves out its own requests, and what is searched without a result says so', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    await goTo(page, 'audit?operation=GET%20%2Fapi%2Fv1%2Faudit%2Fevents')
    await page.getByRole('table').waitFor()
    const before = await page.getByRole('row').count()
    await page.getByLabel('Show new records as they come').check()
    const asked: string[] = []
    page.on('request', (request) => {
      const id = request.headers()['x-request-id']
      if (id !== undefined) asked.push(id)
    })
    while (asked.length < 3) await page.waitForTimeout(100)
    const rows = await page.getByRole('row').count()
    t.ok(rows <= before + 1, `${rows} rows, ${before} before: the request for the list itself may have come`)
    await goTo(page, 'audit?orphans=1')
    await page.getByText('Every attempt has its outcome').waitFor()
    t.same(await hindrances(page), [], 'no orphans')
    await goTo(page, 'audit?bucket=nowhere')
    await page.getByText('No record matches').waitFor()
    t.same(await hindrances(page), [], 'nothing found')
    t.same(complaints, [])
  })
}

await withConsole((console) => {
  reading(console)
  tailing(console)
})
