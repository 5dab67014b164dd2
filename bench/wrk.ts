import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Children } from './children.ts'
import { type Endpoint, presignedTarget } from './endpoint.ts'
import type { LatencyMilliseconds } from './figure.ts'
import type { Load } from './load.ts'

/** Results of a run of wrk. */
export interface LoadResult {
  /** Answered within `seconds`. */
  readonly requests: number
  readonly seconds: number
  readonly requestsPerSecond: number
  /** All that were answered, also outside of `seconds`. */
  readonly answered: number
  readonly latency: LatencyMilliseconds
  /** True when a load of the order `once` was over before its time. */
  readonly exhausted: boolean
}

/** Some requests were not answered, or not as they should have been. */
export class LoadFailedError extends Error {
  override readonly name = 'LoadFailedError'
}

export interface WrkRun {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  /** Prepared with `writeLoad`. */
  readonly load: PreparedLoad
}

/** A load in the files that wrk reads. */
export interface PreparedLoad {
  readonly arguments: readonly string[]
  readonly rateBy: Load['rateBy']
  readonly answerBytesMinimum: number
}

/** The line that wrk-load.lua prints at the end. */
interface WrkReport {
  readonly requests: number
  readonly microseconds: number
  readonly bytes: number
  readonly calls: number
  readonly firstCallSeconds: number
  readonly lastCallSeconds: number
  readonly exhausted: number
  readonly errors: Readonly<Record<'connect' | 'read' | 'write' | 'status' | 'timeout', number>>
  readonly latencyMicroseconds: Readonly<Record<keyof LatencyMilliseconds, number>>
}

/** Read from the source folder: the compiler does not copy it. */
const SCRIPT = fileURLToPath(new URL('../../bench/wrk-load.lua', import.meta.url))
const REQUEST_TIMEOUT_SECONDS = 60
/** Reading the files and waiting for the last answers. */
const OVERHEAD_SECONDS = 90

/** Signs the requests of a load and writes them where wrk finds them; the files are overwritten by the next load. */
export function writeLoad(directory: string, endpoint: Endpoint, load: Load): PreparedLoad {
  const requests = join(directory, 'requests.txt')
  const body = join(directory, 'body.bin')
  const lines = load.requests.map((request) => `${request.method} ${presignedTarget(endpoint, request)}\n`)
  writeFileSync(requests, lines.join(''), { mode: 0o600 })
  writeFileSync(body, load.body)
  const { host } = new URL(endpoint.url)
  const pause = String(load.pauseMilliseconds ?? 0)
  return { arguments: [requests, body, host, load.order, load.rateBy, pause], ...load }
}

/**
 * Runs wrk with one thread, which sends more requests than a server on the same machine answers.
 * @throws LoadFailedError when a request failed or was refused; nothing is measured then
 * @throws MissingProgramError, ChildTimeoutError
 */
export async function runWrk(children: Children, run: WrkRun): Promise<LoadResult> {
  const { connections, seconds, load, url } = run
  const shape = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', `${REQUEST_TIMEOUT_SECONDS}s`]
  const outcome = await children.run('wrk', [...shape, '-s', SCRIPT, url, '--', ...load.arguments], {
    timeoutMilliseconds: (seconds + OVERHEAD_SECONDS) * 1000,
  })
  const line = /^BENCH (\{.*\})$/m.exec(outcome.stdout)?.[1]
  if (outcome.exitCode !== 0 || line === undefined) {
    throw new LoadFailedError(`wrk failed: ${(outcome.stderr + outcome.stdout).trim().slice(0, 500)}`)
  }
  return evaluate(JSON.parse(line) as WrkReport, connections, load)
}

/** wrk counts bad statuses from 400 on: redirects are caught by the request sent before each run. */
function evaluate(report: WrkReport, connections: number, load: PreparedLoad): LoadResult {
  const failures = Object.entries(report.errors).filter(([, count]) => count > 0)
  if (failures.length > 0) {
    const counts = failures.map(([kind, count]) => `${count} ${kind}`).join(', ')
    throw new LoadFailedError(`of ${report.requests} answers were errors or missing: ${counts}`)
  }
  if (report.requests === 0) throw new LoadFailedError('no request was answered in time; try more --seconds')
  if (report.bytes < report.requests * load.answerBytesMinimum) {
    const average = Math.round(report.bytes / report.requests)
    throw new LoadFailedError(`answers were ${average} bytes long on average, less than ${load.answerBytesMinimum}`)
  }
  const { requests, seconds } = counted(report, connections, load)
  return {
    requests,
    seconds,
    requestsPerSecond: requests / seconds,
    answered: report.requests,
    latency: inMilliseconds(report.latencyMicroseconds),
    exhausted: report.exhausted === 1,
  }
}

function inMilliseconds({ p50, p90, p99, maximum }: WrkReport['latencyMicroseconds']): LatencyMilliseconds {
  return { p50: p50 / 1000, p90: p90 / 1000, p99: p99 / 1000, maximum: maximum / 1000 }
}

/**
 * Each connection asks for its first request at the start and for every further request after an answer; one more is
 * asked for and never sent. With fewer answers than connections that says too little.
 */
function counted(report: WrkReport, connections: number, load: PreparedLoad): { requests: number; seconds: number } {
  const answered = report.calls - 1 - connections
  const seconds = report.lastCallSeconds - report.firstCallSeconds
  if (load.rateBy === 'count' && answered >= connections && seconds > 0) return { requests: answered, seconds }
  return { requests: report.requests, seconds: report.microseconds / 1_000_000 }
}
