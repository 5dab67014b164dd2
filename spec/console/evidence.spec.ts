/** Evidence and the overview in the console. */
import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { meansOf, ratesOf, riseOf } from '../../planes/console/client/screens/overview/readings.ts'
import { concernsOf } from '../../planes/console/client/screens/overview/attention.ts'
import { latenciesOf } from '../../planes/console/client/screens/overview/metrics.ts'
import { hindrances } from '../support/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

const READINGS = [
  { time: '2026-11-23T04:00:00Z', counters: { seconds: 1, syncs: 10, errors: 7 } },
  { time: '2026-11-23T04:00:10Z', counters: { seconds: 2, syncs: 30, errors: 7 } },
  { time: '2026-11-23T04:00:20Z', counters: { seconds: 2, syncs: 30, errors: 9 } },
]

function values(points: readonly { readonly value: number }[]): number[] {
  return points.map(({ value }) => value)
}

function asFile(name: string, buffer: Buffer): { name: string; mimeType: string; buffer: Buffer } {
  return { name, mimeType: 'text/plain', buffer }
}

test('rates are between two readings, means only where something happened', async (t) => {
  t.same(values(ratesOf(READINGS, 'syncs')), [2, 0])
  t.same(values(meansOf(READINGS, 'seconds', 'syncs')), [0.05, 0])
  t.equal(riseOf(READINGS, 'errors'), 2)
  t.equal(riseOf(READINGS, 'unknown'), 0)
  t.same(ratesOf([], 'syncs'), [])
  t.same(ratesOf(READINGS.toReversed(), 'syncs'), [], 'a clock that was set back gives no rate')
})

test('the latency of a kind is the bound of the bucket that holds it', async (t) => {
  const name = 'object_store_request_duration_seconds'
  const bucket = (le: string, value: number) => {
    return { name: `${name}_bucket`, labels: { plane: 's3', class: 'read', le }, value }
  }
  const samples = [bucket('0.001', 50), bucket('0.01', 98), bucket('0.1', 100), bucket('+Inf', 100)]
  t.same(latenciesOf([{ name, samples }]), [{ kind: 's3 read', count: 100, median: 0.001, high: 0.1 }])
  t.same(latenciesOf([{ name, samples: [bucket('0.1', 0), bucket('+Inf', 0)] }]), [])
})

test('what needs attention comes with the grave first', async (t) => {
  const well = { ready: true, capacityBytes: 100, availableBytes: 50, metrics: [], readings: [], nowSeconds: 1000 }
  t.same(concernsOf(well), [])
  const certificate = {
    name: 'object_store_tls_certificate_not_after_seconds',
    samples: [{ name: '', labels: {}, value: 1000 + 86_400 * 3 }],
  }
  const readings = [
    { time: '2026-11-23T04:00:00Z', counters: { object_store_errors_total: 1 } },
    { time: '2026-11-23T04:00:10Z', counters: { object_store_errors_total: 4 } },
  ]
  const texts = concernsOf({ ...well, availableBytes: 19, metrics: [certificate], readings })
  t.same(
    texts.map(({ grave }) => grave),
    [true, false, false],
  )
  t.match(texts[0]?.text, /^3 requests failed/)
  t.match(texts[1]?.text, /19% of the disk/)
  t.match(texts[2]?.text, /in 3 days/)
  t.match(concernsOf({ ...well, availableBytes: 4 }), [{ grave: true }])
})

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

function overlooking({ open, tokens }: OpenConsole): void {
  test('the overview says what there is, and its curves are read by keyboard', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await open(t, { colorScheme, viewport: { width: 320, height: 640 } })
      // Two readings make a point.
      await page.route('**/system/metrics/history', (route) => {
        const readings = [0, 30, 90].map((requests, index) => {
          return {
            time: `2026-11-23T04:00:${15 * index || '00'}Z`,
            counters: { object_store_requests_total: requests },
          }
        })
        return route.fulfill({ json: { interval_seconds: 15, readings } })
      })
      await signIn(page, tokens.auditor)
      await goTo(page, 'overview')
      await page.getByText('Version').waitFor()
      const curve = page.getByRole('slider', { name: 'S3 requests over the last hour' })
      t.match(await curve.getAttribute('aria-valuetext'), /^4\/s/)
      await curve.press('ArrowLeft')
      t.match(await curve.getAttribute('aria-valuetext'), /^2\/s/)
      t.same(await hindrances(page), [], colorScheme)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
      t.same(complaints, [])
    }
  })
}

await withConsole((opened) => {
  proving(opened)
  overlooking(opened)
})
