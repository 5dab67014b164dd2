import { Fragment } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import { Loading } from '../../parts/loading.tsx'
import { Time } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { counted, formatBytes, formatCount } from '../../text/format.ts'
import { concernsOf } from './attention.ts'
import { Charts, formatSeconds } from './charts.tsx'
import { latenciesOf } from './latencies.ts'
import { type Metric, valueOf } from './metrics.ts'
import { joinReadings, type Reading, riseOf, type Step, stepsOf } from './readings.ts'

/** Equal to the interval at which the server samples its counters. */
const PAUSE_MILLISECONDS = 15_000

interface Overview {
  readonly info: Answer<'GET /system/info'>
  readonly status: Answer<'GET /storage/status'>
  readonly metrics: readonly Metric[]
  readonly readings: readonly Reading[]
  /** Upper bounds of the buckets of histograms, in seconds. */
  readonly bounds: readonly number[]
}

interface Shown extends Overview {
  readonly steps: readonly Step[]
}

/** @param before readings loaded earlier */
async function loadOverview(before: readonly Reading[], signal: AbortSignal): Promise<Overview> {
  const since = before.at(-1)?.time
  const [info, status, { metrics }, { readings, histogram_bounds: bounds }] = await Promise.all([
    call('GET /system/info', {}, signal),
    call('GET /storage/status', {}, signal),
    call('GET /system/metrics', {}, signal),
    call('GET /system/metrics/history', { query: since === undefined ? {} : { since } }, signal),
  ])
  return { info, status, metrics, readings: joinReadings(before, readings), bounds }
}

/** State of the store, and what needs attention. */
export function OverviewScreen() {
  const readings = useRef<readonly Reading[]>([])
  const loaded = useLoaded(async (signal) => {
    const overview = await loadOverview(readings.current, signal)
    readings.current = overview.readings
    return overview
  }, [])
  useEffect(() => {
    // A hidden page requests nothing.
    const look = () => document.hidden || loaded.reload()
    const timer = setInterval(look, PAUSE_MILLISECONDS)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return (
    <div class="screen">
      <h1>Overview</h1>
      <Loading of={loaded}>{(overview) => <Sections {...overview} />}</Loading>
    </div>
  )
}

function Sections(overview: Overview) {
  const steps = useMemo(() => stepsOf(overview.readings), [overview.readings])
  const shown = { ...overview, steps }
  return (
    <div class="sections">
      <Attention {...shown} />
      <Capacity {...shown} />
      <Work {...shown} />
      <LastHour {...shown} />
      <Latencies {...shown} />
      <Charts steps={steps} bounds={overview.bounds} />
    </div>
  )
}

function Attention({ info, status, metrics, readings, steps }: Shown) {
  const concerns = concernsOf({
    ready: info.status === 'ready',
    degraded: info.degraded,
    capacityBytes: status.capacity_bytes,
    availableBytes: status.available_bytes,
    metrics,
    steps,
    nowSeconds: Date.parse(readings.at(-1)?.time ?? '1970-01-01') / 1000,
  })
  return (
    <section class="section wide">
      <h2>Needs attention</h2>
      {concerns.length === 0 ? (
        <p>
          <span class="badge good">nothing</span> Version {info.version}
          {info.commit === null ? '' : `, commit ${info.commit},`} is ready.
        </p>
      ) : (
        <ul class="names">
          {concerns.map(({ grave, text }) => (
            <li key={text}>
              <span class={grave ? 'badge bad' : 'badge warning'}>{grave ? 'act now' : 'look'}</span> {text}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Capacity({ status, metrics, steps }: Shown) {
  const { capacity_bytes: capacity, available_bytes: available } = status
  const bytes = (name: string) => formatBytes(valueOf(metrics, name) ?? 0)
  return (
    <section class="section">
      <h2>Capacity</h2>
      <meter aria-label="Used part of the disk" value={capacity - available} max={Math.max(capacity, 1)} />
      <dl class="facts">
        <dt>Free</dt>
        <dd>
          {formatBytes(available)} of {formatBytes(capacity)}
        </dd>
        <dt>Objects</dt>
        <dd>
          {counted(valueOf(metrics, 'object_store_objects') ?? 0, 'object')},{' '}
          {bytes('object_store_storage_logical_bytes')}
        </dd>
        <dt>On the disk</dt>
        <dd>{bytes('object_store_storage_physical_bytes')}</dd>
        <dt>Uploads</dt>
        <dd>{formatBytes(status.temporary_upload_bytes)} in progress</dd>
        <dt>Journal</dt>
        <dd>
          {bytes('object_store_journal_bytes')}, to record{' '}
          {formatCount(valueOf(metrics, 'object_store_journal_head_sequence') ?? 0)}; in the last hour{' '}
          {counted(riseOf(steps, 'object_store_journal_records_total'), 'record')},{' '}
          {formatBytes(riseOf(steps, 'object_store_journal_written_bytes_total'))}
        </dd>
        <dt>Chain</dt>
        <dd>
          <ChainVerdict chain={status.chain} />
        </dd>
      </dl>
    </section>
  )
}

/** The last verdict on the whole chain. */
function ChainVerdict({ chain: { whole, ignored } }: { readonly chain: Overview['status']['chain'] }) {
  if (ignored !== null) return <span class="badge warning">verdict ignored: {ignored}</span>
  if (whole === null) return <>not verified as a whole yet</>
  const { through, problem, verified_at: at, verified_by: by, program } = whole
  const place = problem === null || problem.sequence === null ? '' : ` at record ${problem.sequence}`
  return (
    <>
      {problem === null ? (
        <span class="badge good">intact</span>
      ) : (
        <span class="badge bad">
          {problem.verdict}
          {place}
        </span>
      )}
      {through === null ? ' ' : ` up to record ${formatCount(through)}, `}
      <Time at={at} />, {program} of {by}
    </>
  )
}

/** Gauges of running and waiting work. */
const WORK = [
  ['Operations', 'object_store_operations_active', 'running'],
  ['Queue', 'object_store_operations_queued', 'waiting'],
  ['Webhooks', 'object_store_webhook_deliveries_pending', 'deliveries pending'],
  ['Event streams', 'object_store_event_streams', 'open'],
  ['Multipart', 'object_store_multipart_uploads', 'uploads in progress'],
] as const

function Work({ metrics }: Overview) {
  return (
    <section class="section">
      <h2>Now</h2>
      <dl class="facts">
        {WORK.map(([title, name, what]) => (
          <Fragment key={name}>
            <dt>{title}</dt>
            <dd>
              {formatCount(valueOf(metrics, name) ?? 0)} {what}
            </dd>
          </Fragment>
        ))}
        <dt>To compact</dt>
        <dd>{formatBytes(valueOf(metrics, 'object_store_storage_unused_volume_bytes') ?? 0)} of volumes unused</dd>
      </dl>
    </section>
  )
}

/** Counters of the work of background workers. */
const DONE = [
  [
    'Lifecycle',
    [
      ['lifecycle_removed', 'removed'],
      ['lifecycle_skipped', 'skipped'],
      ['lifecycle_failed', 'failed'],
    ],
  ],
  ['Compaction', [['compaction_volumes_removed', 'volumes removed']]],
  [
    'Webhooks',
    [
      ['webhook_deliveries_succeeded', 'delivered'],
      ['webhook_attempts_failed', 'attempts failed'],
      ['webhook_deliveries_failed', 'given up'],
    ],
  ],
] as const

function LastHour({ metrics, steps }: Shown) {
  const lastPass = valueOf(metrics, 'object_store_lifecycle_last_pass_timestamp_seconds')
  const lag = valueOf(metrics, 'object_store_lifecycle_lag_seconds') ?? 0
  return (
    <section class="section">
      <h2>Workers in the last hour</h2>
      <dl class="facts">
        {DONE.map(([title, counters]) => (
          <Fragment key={title}>
            <dt>{title}</dt>
            <dd>
              {counters
                .map(([name, what]) => `${formatCount(riseOf(steps, `object_store_${name}_total`))} ${what}`)
                .join(', ')}
            </dd>
          </Fragment>
        ))}
        <dt>Last pass</dt>
        <dd>
          {lastPass === undefined ? (
            'none of the lifecycle rules since the start'
          ) : (
            <>
              <Time at={new Date(lastPass * 1000).toISOString()} />
              {lag === 0 ? ', nothing left' : `, behind by ${formatSpan(lag)}`}
            </>
          )}
        </dd>
      </dl>
    </section>
  )
}

function Latencies({ steps, bounds }: Shown) {
  const latencies = latenciesOf(steps, bounds)
  return (
    <section class="section wide">
      <h2>Latency in the last hour</h2>
      {latencies.length === 0 ? (
        <p class="faint">No requests yet.</p>
      ) : (
        <div class="scrolls" role="region" aria-label="Latency by kind of request" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Requests</th>
                <th scope="col">Count</th>
                <th scope="col">Median at most (p50)</th>
                <th scope="col">99th percentile at most (p99)</th>
              </tr>
            </thead>
            <tbody>
              {latencies.map(({ kind, count, median, high }) => (
                <tr key={kind}>
                  <th scope="row">{kind}</th>
                  <td>{formatCount(count)}</td>
                  <td>{formatSeconds(median)}</td>
                  <td>{formatSeconds(high)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function formatSpan(seconds: number): string {
  return seconds < 86_400 ? counted(Math.ceil(seconds / 3600), 'hour') : counted(Math.floor(seconds / 86_400), 'day')
}
