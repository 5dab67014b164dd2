/** The overview: what is made of the readings of an hour, and how a browser shows it. */
import { test } from 'tap'
import { concernsOf } from '../../planes/console/client/screens/overview/attention.ts'
import { latenciesOf } from '../../planes/console/client/screens/overview/latencies.ts'
import {
  joinReadings,
  quantileOf,
  type Reading,
  riseOf,
  stepsOf,
} from '../../planes/console/client/screens/overview/readings.ts'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

const START = Date.parse('2026-11-23T04:00:00Z')
const DURATION = 'object_store_request_duration_seconds'
const BOUNDS = [0.001, 0.01]

/** @param reads buckets of the durations of reads */
function reading(seconds: number, counters: Reading['counters'], reads?: number[]): Reading {
  const labels = { plane: 's3', class: 'read' }
  const histograms = reads === undefined ? [] : [{ name: DURATION, labels, buckets: reads, sum: 1 }]
  return { time: new Date(START + seconds * 1000).toISOString(), counters, histograms }
}

test('steps are minutes and what is new since the last; rises are those of counters that may begin anew', async (t) => {
  const readings = [0, 15, 30, 45, 60, 75].map((seconds) => reading(seconds, { errors: seconds }))
  const steps = stepsOf(readings)
  t.same(
    steps.map(({ seconds, time }) => [seconds, time - START / 1000]),
    [
      [60, 60],
      [15, 75],
    ],
  )
  t.same(
    steps.map((step) => step.rise('errors')),
    [60, 15],
  )
  t.equal(riseOf(steps, 'unknown'), 0)
  t.equal(riseOf(stepsOf([...readings, reading(120, { errors: 4 })]), 'errors'), 64, 'a new process begins at zero')
  t.same(stepsOf(readings.slice(0, 1)), [])
  t.same(stepsOf(readings.toReversed()), [], 'a clock that was set back gives no step')
})

test('newer readings go on where those before end, and an hour is kept', async (t) => {
  const before = [0, 15, 30].map((seconds) => reading(seconds, {}))
  const newer = [30, 45].map((seconds) => reading(seconds, { newer: 1 }))
  t.same(joinReadings(before, newer), [...before.slice(0, 2), ...newer])
  t.same(joinReadings(before, []), before)
  t.same(joinReadings(before, [reading(3615, {})]), [before[1], before[2], reading(3615, {})])
})

test('a quantile is the bound of the bucket that holds it', async (t) => {
  t.equal(quantileOf([50, 49, 1], BOUNDS, 0.5), 0.001)
  t.equal(quantileOf([50, 49, 1], BOUNDS, 0.99), 0.01)
  t.equal(quantileOf([50, 48, 2], BOUNDS, 0.99), Number.POSITIVE_INFINITY)
  t.equal(quantileOf([0, 0, 0], BOUNDS, 0.5), undefined)
  t.equal(quantileOf([], BOUNDS, 0.5), undefined)
})

test('latencies are of what was counted in the hour, not before', async (t) => {
  const steps = stepsOf([reading(0, {}, [900, 0, 0]), reading(15, {}, [900, 99, 0]), reading(60, {}, [901, 99, 0])])
  t.same(latenciesOf(steps, BOUNDS), [{ kind: 's3 read', count: 100, median: 0.01, high: 0.01 }])
  t.same(latenciesOf(stepsOf([reading(0, {}, [7, 0, 0]), reading(15, {}, [7, 0, 0])]), BOUNDS), [], 'nobody asked')
  const anew = stepsOf([reading(0, {}, [900, 0, 0]), reading(15, {}, [0, 3, 0])])
  t.match(latenciesOf(anew, BOUNDS), [{ count: 3, median: 0.01 }], 'a new process begins at zero')
  t.same(latenciesOf([], BOUNDS), [])
})

function metric(name: string, value: number) {
  return { name, samples: [{ name: '', labels: {}, value }] }
}

test('what needs attention comes with the grave first', async (t) => {
  const well = { ready: true, capacityBytes: 100, availableBytes: 50, metrics: [], steps: [], nowSeconds: 1000 }
  t.same(concernsOf(well), [])
  const degraded = [{ name: 'clock', reason: 'it is behind' }]
  t.same(concernsOf({ ...well, degraded }), [{ grave: true, text: 'Degraded, clock: it is behind.' }])
  const metrics = [
    metric('object_store_tls_certificate_not_after_seconds', 1000 + 86_400 * 3),
    metric('object_store_lifecycle_lag_seconds', 86_400 * 2.5),
  ]
  const steps = stepsOf([
    reading(0, { object_store_errors_total: 1 }),
    reading(10, { object_store_errors_total: 4, object_store_webhook_deliveries_failed_total: 2 }),
  ])
  const texts = concernsOf({ ...well, availableBytes: 19, metrics, steps })
  t.match(texts, [
    { grave: true, text: /^3 requests failed/ },
    { grave: false, text: /19% of the disk/ },
    { grave: false, text: /^2 deliveries to webhooks failed for good/ },
    { grave: false, text: /lifecycle rules are 2 days behind/ },
    { grave: false, text: /in 3 days/ },
  ])
  t.match(concernsOf({ ...well, availableBytes: 4 }), [{ grave: true }])
})

function overlooking({ api, open, put, tokens }: OpenConsole): void {
  test('the overview comes first for every role, and each value of its charts is in a table', async (t) => {
    for (const [role, colorScheme] of [
      ['auditor', 'light'],
      ['storage-administrator', 'dark'],
    ] as const) {
      const { page, complaints } = await open(t, { colorScheme, viewport: { width: 320, height: 640 } })
      await page.route('**/system/metrics/history*', (route) => {
        const readings = [0, 60, 75].map((seconds, index) => {
          return reading(seconds, { object_store_errors_total: 60 * index }, [600 * index, 60 * index, 0])
        })
        return route.fulfill({ json: { interval_seconds: 15, histogram_bounds: BOUNDS, readings } })
      })
      await signIn(page, tokens[role])
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      t.equal(await page.getByRole('navigation').getByRole('link').first().textContent(), 'Overview')
      const requests = page.locator('section').filter({ has: page.getByRole('heading', { name: 'S3 requests' }) })
      t.match(await requests.locator('.legend').textContent(), /read 44\/s/, 'the last value')
      await requests.locator('summary').press('Enter')
      // Rows are there for readers only once the browser has opened the details.
      await requests.getByRole('row').nth(2).waitFor()
      const cells = await requests.getByRole('row').allTextContents()
      t.same(cells.length, 3)
      t.match(cells[1], /44\/s/)
      t.match(cells[2], /11\/s/)
      const latencies = page.getByRole('region', { name: 'Latency by kind of request' })
      t.match(await latencies.textContent(), /s3 read1,3201 ms10 ms/)
      t.ok((await page.locator('canvas').count()) >= 5, 'the curves are drawn')
      t.same(await hindrances(page), [], colorScheme)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
      t.same(complaints, [])
    }
  })

  test('charts are drawn anew in other colours, and what the real server tells is shown', async (t) => {
    await api.get('POST', '/buckets', { name: 'drawn' })
    await put('drawn', 'a', 'bytes')
    const { page, complaints } = await open(t, { colorScheme: 'light' })
    await signIn(page, tokens['system-administrator'])
    await page.getByText('none of the lifecycle rules since the start').waitFor()
    await page.getByText('Version').waitFor()
    t.match(
      await page.getByRole('heading', { name: 'Workers in the last hour' }).locator('..').textContent(),
      /0 removed/,
    )
    const readings = [0, 60, 120].map((seconds) => reading(seconds, {}, [seconds, 0, 0]))
    await page.route('**/system/metrics/history*', (route) =>
      route.fulfill({ json: { interval_seconds: 15, histogram_bounds: BOUNDS, readings } }),
    )
    await goTo(page, 'buckets')
    await goTo(page, 'overview')
    await page.locator('canvas').first().waitFor()
    const drawn = () => page.evaluate<string>("document.querySelector('canvas').toDataURL()")
    const light = await drawn()
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    t.equal(await ground(), 'rgb(246, 247, 249)')
    await page.getByLabel('Colours').selectOption('dark')
    for (let turn = 0; turn < 100 && (await drawn()) === light; turn += 1) await page.waitForTimeout(20)
    t.equal(await ground(), 'rgb(20, 23, 28)', 'who chose goes before the system')
    t.ok((await drawn()) !== light, 'drawn anew')
    await page
      .locator('.chart')
      .first()
      .hover({ position: { x: 80, y: 40 } })
    const shown = (await page.locator('.legend').first().textContent()) ?? ''
    t.match(shown, /:01$/, 'the pointer chooses a minute')
    await page.getByLabel('Colours').selectOption('light')
    t.same(complaints, [])
  })
}

await withConsole(overlooking)
