import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import { Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { counted, formatBytes, formatCount } from '../../text/format.ts'
import { concernsOf } from './attention.ts'
import { Curve } from './curve.tsx'
import { latenciesOf, type Metric, valueOf } from './metrics.ts'
import { meansOf, type Reading, ratesOf, riseOf } from './readings.ts'

/** The server reads its counters as often. */
const PAUSE_MILLISECONDS = 15_000

interface Overview {
  readonly info: Answer<'GET /system/info'>
  readonly status: Answer<'GET /storage/status'>
  readonly metrics: readonly Metric[]
  readonly readings: readonly Reading[]
}

async function loadOverview(signal: AbortSignal): Promise<Overview> {
  const [info, status, { metrics }, { readings }] = await Promise.all([
    call('GET /system/info', {}, signal),
    call('GET /storage/status', {}, signal),
    call('GET /system/metrics', {}, signal),
    call('GET /system/metrics/history', {}, signal),
  ])
  return { info, status, metrics, readings }
}

/** How the store is, and what needs somebody. */
export function OverviewScreen() {
  const loaded = useLoaded(loadOverview, [])
  useEffect(() => {
    const timer = setInterval(loaded.reload, PAUSE_MILLISECONDS)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="screen">
      <h1>Overview</h1>
      <Loading of={loaded}>
        {(overview) => (
          <div class="sections">
            <Attention {...overview} />
            <Capacity {...overview} />
            <Curves readings={overview.readings} />
            <Journal {...overview} />
            <Work {...overview} />
            <Latencies metrics={overview.metrics} />
          </div>
        )}
      </Loading>
    </div>
  )
}

function Attention({ info, status, metrics, readings }: Overview) {
  const concerns = concernsOf({
    ready: info.status === 'ready',
    capacityBytes: status.capacity_bytes,
    availableBytes: status.available_bytes,
    metrics,
    readings,
    nowSeconds: Date.parse(readings.at(-1)?.time ?? '1970-01-01') / 1000,
  })
  return (
    <section class="section wide">
      <h2>Needs attention</h2>
      {concerns.length === 0 ? (
        <p>
          <span class="badge good">nothing</span> Version {info.version} is ready.
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

function Capacity({ status, metrics }: Overview) {
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
      </dl>
    </section>
  )
}

function Curves({ readings }: { readonly readings: readonly Reading[] }) {
  const sync = meansOf(readings, 'object_store_journal_sync_seconds_total', 'object_store_journal_syncs_total')
  return (
    <>
      <Curve label="S3 requests" points={ratesOf(readings, 'object_store_requests_total')} format={formatRate} />
      <Curve label="Errors" points={ratesOf(readings, 'object_store_errors_total')} format={formatRate} />
      <Curve
        label="Bytes received"
        points={ratesOf(readings, 'object_store_received_bytes_total')}
        format={formatByteRate}
      />
      <Curve label="Bytes sent" points={ratesOf(readings, 'object_store_sent_bytes_total')} format={formatByteRate} />
      <Curve label="Time of a sync" points={sync} format={formatSeconds} />
    </>
  )
}

function Journal({ metrics, readings }: Overview) {
  return (
    <section class="section">
      <h2>Journal</h2>
      <dl class="facts">
        <dt>Size</dt>
        <dd>{formatBytes(valueOf(metrics, 'object_store_journal_bytes') ?? 0)}</dd>
        <dt>Head</dt>
        <dd>record {formatCount(valueOf(metrics, 'object_store_journal_head_sequence') ?? 0)}</dd>
        <dt>Last hour</dt>
        <dd>{counted(riseOf(readings, 'object_store_journal_records_total'), 'record')} more</dd>
      </dl>
    </section>
  )
}

/** What runs and waits. */
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
      <h2>Work</h2>
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

function Latencies({ metrics }: { readonly metrics: readonly Metric[] }) {
  const latencies = latenciesOf(metrics)
  return (
    <section class="section wide">
      <h2>Latency since the start</h2>
      <div class="scrolls" role="region" aria-label="Latency by kind of request" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Requests</th>
              <th scope="col">Count</th>
              <th scope="col">Half below</th>
              <th scope="col">99 of 100 below</th>
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
    </section>
  )
}

function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'more'
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`
}

function formatRate(perSecond: number): string {
  return `${Number(perSecond.toPrecision(3))}/s`
}

function formatByteRate(perSecond: number): string {
  return `${formatBytes(Math.round(perSecond))}/s`
}
