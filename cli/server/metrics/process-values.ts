import { systemMilliseconds } from '../../../engine/clock.ts'
import type { MetricSample, ScrapeValues } from '../../../planes/metrics/metric-table.ts'
import { openFiles, openFilesMaximum } from '../open-files.ts'

/** A thread that tells how long its event loop has been at work since its start, in milliseconds. */
export interface WatchedThread {
  /** Value of the label `thread`. */
  readonly name: string
  activeMilliseconds(): number
}

type ProcessValues = Pick<
  ScrapeValues,
  | 'object_store_build_info'
  | 'nodejs_eventloop_active_seconds_total'
  | 'process_cpu_seconds_total'
  | 'process_resident_memory_bytes'
  | 'process_open_fds'
  | 'process_max_fds'
  | 'process_start_time_seconds'
>

const STARTED_SECONDS = systemMilliseconds() / 1000 - process.uptime()

/** The system's values for this process and its threads, under the usual names of Prometheus. */
export function processValues(version: string, threads: readonly WatchedThread[]): ProcessValues {
  const { user, system } = process.cpuUsage()
  const filesMaximum = openFilesMaximum()
  return {
    object_store_build_info: [{ labels: { version, node: process.version }, value: 1 }],
    nodejs_eventloop_active_seconds_total: threads.map(activeOf),
    process_cpu_seconds_total: (user + system) / 1_000_000,
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_open_fds: openFiles(),
    process_max_fds: Number.isFinite(filesMaximum) ? filesMaximum : undefined,
    process_start_time_seconds: STARTED_SECONDS,
  }
}

function activeOf(thread: WatchedThread): MetricSample {
  return { labels: { thread: thread.name }, value: thread.activeMilliseconds() / 1000 }
}
