import { useMemo } from 'preact/hooks'
import { formatBytes } from '../../text/format.ts'
import { Chart, type Line } from './chart.tsx'
import { DURATION } from './latencies.ts'
import { quantileOf, type Step, total, type Which } from './readings.ts'

/** Classes of S3 requests in the charts; the table has all. */
const CLASSES = ['read', 'list', 'write', 'delete'] as const
const SYNC: Which = { name: 'object_store_journal_sync_duration_seconds' }

interface ChartRow {
  readonly label: string
  readonly format: (value: number) => string
  readonly scale: 'counts' | 'bytes' | 'times'
  readonly lines: (steps: readonly Step[], bounds: readonly number[]) => readonly Line[]
}

function s3(one: string): Which {
  return { name: DURATION, labels: { plane: 's3', class: one } }
}

/** A line for each class of S3 requests. */
function byClass(valueOf: (step: Step, which: Which, bounds: readonly number[]) => number | null): ChartRow['lines'] {
  return (steps, bounds) =>
    CLASSES.map((one) => ({ label: one, values: steps.map((step) => valueOf(step, s3(one), bounds)) }))
}

function quantile(part: number) {
  return (step: Step, which: Which, bounds: readonly number[]): number | null => {
    const found = quantileOf(step.buckets(which), bounds, part)
    // A chart ends at the last bound; nothing is known above it.
    return found === undefined ? null : Math.min(found, bounds.at(-1) ?? found)
  }
}

/** Lines of counters: increase per second. */
function rates(counters: Readonly<Record<string, string>>): ChartRow['lines'] {
  return (steps) =>
    Object.entries(counters).map(([label, name]) => {
      return { label, values: steps.map((step) => step.rise(`object_store_${name}_total`) / step.seconds) }
    })
}

const ROWS: readonly ChartRow[] = [
  {
    label: 'S3 requests',
    format: formatRate,
    scale: 'counts',
    lines: byClass((step, which) => total(step.buckets(which)) / step.seconds),
  },
  {
    label: 'Median latency at most',
    format: formatSeconds,
    scale: 'times',
    lines: byClass(quantile(0.5)),
  },
  { label: '99th percentile at most', format: formatSeconds, scale: 'times', lines: byClass(quantile(0.99)) },
  {
    label: 'Errors',
    format: formatRate,
    scale: 'counts',
    lines: rates({ 'faults of the server': 'errors', 'sent away': 'operations_rejected' }),
  },
  {
    label: 'Bytes',
    format: formatByteRate,
    scale: 'bytes',
    lines: rates({ received: 'received_bytes', sent: 'sent_bytes' }),
  },
  {
    label: 'Growth of the journal',
    format: formatByteRate,
    scale: 'bytes',
    lines: rates({ written: 'journal_written_bytes' }),
  },
  {
    label: 'Time of a sync, at most',
    format: formatSeconds,
    scale: 'times',
    lines: (steps, bounds) =>
      (
        [
          ['median', 0.5],
          ['99th percentile', 0.99],
        ] as const
      ).map(([label, part]) => {
        return { label, values: steps.map((step) => quantile(part)(step, SYNC, bounds)) }
      }),
  },
  {
    label: 'Work in the background',
    format: formatRate,
    scale: 'counts',
    lines: rates({
      'expired and removed': 'lifecycle_removed',
      'webhooks delivered': 'webhook_deliveries_succeeded',
      'attempts failed': 'webhook_attempts_failed',
    }),
  },
  {
    label: 'Moved by compaction',
    format: formatByteRate,
    scale: 'bytes',
    lines: rates({ moved: 'compaction_moved_bytes' }),
  },
]

interface ChartsProps {
  readonly steps: readonly Step[]
  readonly bounds: readonly number[]
}

/** Charts of the last hour, by minute. */
export function Charts({ steps, bounds }: ChartsProps) {
  const times = useMemo(() => steps.map(({ time }) => time), [steps])
  const all = useMemo(() => ROWS.map(({ lines }) => lines(steps, bounds)), [steps])
  return (
    <>
      {ROWS.map(({ label, format, scale }, index) => (
        <Chart key={label} label={label} times={times} lines={all[index] ?? []} format={format} scale={scale} />
      ))}
    </>
  )
}

export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'over a minute'
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`
}

function formatRate(perSecond: number): string {
  return `${Number(perSecond.toPrecision(3))}/s`
}

function formatByteRate(perSecond: number): string {
  return `${formatBytes(Math.round(perSecond))}/s`
}
