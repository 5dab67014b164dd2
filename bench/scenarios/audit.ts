import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fillAudit } from '../audit-store.ts'
import type { Bench, Target } from '../bench.ts'
import { manage } from '../management.ts'
import { memoryUsage } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'

/** Records in the log for each object of the settings: ten million in a full run. */
const RECORDS_PER_OBJECT = 10
const HOUR_MILLISECONDS = 3_600_000
const SPAN_HOURS = 24 * 30
const QUERIES = 200
const CHAIN_LIMIT = 10_000
const WARM_UP_SPANS = 5

/** Queries, chain and exports of a long audit log, each asked for over HTTP. */
export const audit: Scenario = {
  name: 'audit',
  title: 'Audit log: a page of one hour, the chain, exports',
  needs: 'own server',
  async run(bench) {
    const records = bench.settings.objects * RECORDS_PER_OBJECT
    const dataDirectory = join(bench.directory, 'audit-store')
    const fromMilliseconds = Date.now()
    const spanMilliseconds = SPAN_HOURS * HOUR_MILLISECONDS
    const { masterKey } = bench.secrets
    try {
      await fillAudit(bench.children, { dataDirectory, masterKey, records, fromMilliseconds, spanMilliseconds })
      await bench.withServerOn(dataDirectory, '', async (target) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        try {
          await queries(bench, target, agent, records, fromMilliseconds)
          await chain(bench, target, agent)
          for (const format of ['json', 'csv'] as const) await exports(bench, target, agent, records, format)
        } finally {
          agent.destroy()
        }
      })
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true })
    }
  },
}

const NOTHING = Buffer.alloc(0)

async function queries(
  bench: Bench,
  target: Target,
  agent: Agent,
  records: number,
  fromMilliseconds: number,
): Promise<void> {
  const milliseconds: number[] = []
  for (let query = 0; query < QUERIES; query += 1) {
    const since = fromMilliseconds + randomInt(SPAN_HOURS - 1) * HOUR_MILLISECONDS
    const range = {
      since: new Date(since).toISOString(),
      until: new Date(since + HOUR_MILLISECONDS).toISOString(),
    }
    const began = performance.now()
    const { text } = await manage(target, 'GET', `/audit/events?${new URLSearchParams(range)}`, NOTHING, agent)
    milliseconds.push(performance.now() - began)
    const { events } = JSON.parse(text) as { readonly events: readonly unknown[] }
    if (events.length !== 100) throw new Error(`a page of ${events.length} records`)
  }
  milliseconds.sort((left, right) => left - right)
  bench.add({
    name: 'audit-query-hour',
    label: `First page of one hour among ${records.toLocaleString('en')} records, p99 of ${QUERIES}`,
    value: milliseconds[Math.floor(QUERIES * 0.99)] as number,
    unit: 'ms',
    note: `median ${(milliseconds[QUERIES / 2] as number).toFixed(1)} ms`,
  })
}

interface Span {
  readonly intact: boolean
  readonly checked: number
  readonly next_from: number | null
}

async function chain(bench: Bench, target: Target, agent: Agent): Promise<void> {
  const span = async (from: number): Promise<Span> => {
    const path = `/audit/chain?from=${from}&limit=${CHAIN_LIMIT}`
    const { text } = await manage(target, 'GET', path, NOTHING, agent)
    return JSON.parse(text) as Span
  }
  for (let warm = 0; warm < WARM_UP_SPANS; warm += 1) await span(0)
  let checked = 0
  const began = performance.now()
  const limitMilliseconds = bench.settings.seconds * 1000
  for (let from: number | null = 0; from !== null && performance.now() - began < limitMilliseconds; ) {
    const report: Span = await span(from)
    if (!report.intact) throw new Error(`the chain is not intact from ${from} on`)
    checked += report.checked
    from = report.next_from
  }
  const seconds = (performance.now() - began) / 1000
  const label = `Records of the chain, followed ${CHAIN_LIMIT.toLocaleString('en')} at a time`
  bench.add({ name: 'audit-chain', label, value: checked / seconds, unit: 'per second', limits: ['sha256'] })
}

async function exports(
  bench: Bench,
  target: Target,
  agent: Agent,
  records: number,
  format: 'json' | 'csv',
): Promise<void> {
  const to = new Date(Date.now() + 2 * SPAN_HOURS * HOUR_MILLISECONDS).toISOString()
  const began = performance.now()
  const { bytes } = await manage(target, 'GET', `/audit/export?format=${format}&to=${to}`, NOTHING, agent)
  const seconds = (performance.now() - began) / 1000
  bench.add({
    name: `audit-export-${format}`,
    label: `Export of ${records.toLocaleString('en')} records as ${format}`,
    value: records / seconds,
    unit: 'per second',
    note: `${(bytes / seconds / 1024 ** 2).toFixed(0)} MiB/s`,
  })
  if (target.pid === undefined) throw new Error('the process of the server is not known')
  const { peak } = memoryUsage(target.pid)
  bench.add({
    name: `audit-export-${format}-memory`,
    label: `Peak resident set of the server by then`,
    value: peak,
    unit: 'MiB',
  })
}
