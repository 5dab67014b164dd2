/**
 * What a stranger can make the store spend: bytes of journal for requests that are refused, and processor time for the
 * worst head. On a server of its own, whose budget is the one that every store has (decision 0038).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { writtenBytes } from '../../support/journal-files.ts'
import { type ProcessServer, startProcess } from '../../support/server-process.ts'
import { processorSeconds } from '../../support/process-gauges.ts'
import type { Assault } from './assault.ts'
import { overLanes } from './over-lanes.ts'

const LANES = 8
const REQUESTS = 3000
const PATH_BYTES = 14_000
/** The default of `audit.anonymous_kib_per_second`, of which 16 seconds are saved up. */
const BUDGET_BYTES = 64 * 1024
const SAVED_SECONDS = 16
/** Batches have a frame of their own, and the start has records. */
const FRAMES = 1.25

const HEADS = 300
/** Header lines that the library lets through, and names that a head of 16 KiB holds. */
const LINES = 90
const NAMES = 2500
/** How much more processor time the worst head may take than a plain one. */
const COST_MAXIMUM = 8
/** Processor time is counted in these. */
const TICK_SECONDS = 0.01

/** Gives a line for the reader. */
export async function attackRefusals(assault: Assault): Promise<string> {
  const { ledger } = assault
  const count = assault.fewer(REQUESTS)
  const dataDirectory = mkdtempSync(join(tmpdir(), 'refusal-flood-'))
  const server = await startProcess({ dataDirectory })
  try {
    ledger.tried('refusals', count + 2 * HEADS)
    ledger.requests += count + 2 * HEADS
    const before = writtenBytes(new StorePaths(dataDirectory))
    const started = performance.now()
    const head = (index: number) => `GET /${'p'.repeat(PATH_BYTES)}/${index} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
    await send(
      server,
      Array.from({ length: count }, (_, index) => head(index)),
    )
    const seconds = (performance.now() - started) / 1000
    const plain = await cost(server, 'GET /b/k HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    const worst = (await cost(server, worstHead())) / plain
    await server.terminate()
    const grown = writtenBytes(new StorePaths(dataDirectory)) - before
    const bound = BUDGET_BYTES * FRAMES * (SAVED_SECONDS + 2 * seconds + 10)
    if (grown > bound) ledger.fault('wrong', 'refusals', `${grown} bytes of journal for refusals, at most ${bound}`)
    const counted = countedIn(dataDirectory)
    if (counted !== count + 2 * HEADS) ledger.fault('wrong', 'refusals', `${counted} requests are in the journal`)
    if (worst > COST_MAXIMUM) ledger.fault('wrong', 'refusals', `the worst head costs ${worst.toFixed(1)} plain ones`)
    const ratio = (grown / (count * PATH_BYTES)).toFixed(3)
    return `${ratio} bytes of journal for a byte of a refused request; the worst head costs ${worst.toFixed(1)} plain ones`
  } finally {
    await server.stop()
    rmSync(dataDirectory, { recursive: true })
  }
}

function worstHead(): string {
  const lines = Array.from({ length: LINES }, (_, index) => `a${index}: 1\r\n`).join('')
  const names = Array.from({ length: NAMES }, (_, index) => index.toString(36)).join(';')
  const scope = 'Credential=OSNOBODY/20261122/r/s3/aws4_request'
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const claim = `AWS4-HMAC-SHA256 ${scope.replace('20261122', date.slice(0, 8))}, SignedHeaders=host;x-amz-content-sha256;x-amz-date;${names}, Signature=${'0'.repeat(64)}`
  const own = `x-amz-date: ${date}\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\nAuthorization: ${claim}\r\n`
  return `GET /b/k HTTP/1.1\r\nHost: 127.0.0.1\r\n${own}${lines}\r\n`
}

async function send(server: ProcessServer, requests: readonly string[]): Promise<void> {
  await overLanes(server.port, LANES, requests, async (lane, request) => {
    const { answer } = await lane.exchange(request, 'GET')
    if (answer === undefined || answer.status < 400 || answer.status >= 500) {
      throw new Error(`a refused request was answered ${answer?.status}`)
    }
  })
}

/** Processor seconds of the server for some requests of one kind. */
async function cost(server: ProcessServer, head: string): Promise<number> {
  const heads = Array.from({ length: HEADS }, () => head)
  const before = processorSeconds(server.process.pid)
  await send(server, heads)
  return Math.max(TICK_SECONDS, processorSeconds(server.process.pid) - before)
}

/** Requests of strangers in the journal, alone or counted. */
function countedIn(dataDirectory: string): number {
  return journalEntries(dataDirectory)
    .filter(({ principal }) => principal === 'anonymous')
    .reduce(
      (sum, { operation, details }) => sum + (operation === 'requests.counted' ? Number(details.get('count')) : 1),
      0,
    )
}
