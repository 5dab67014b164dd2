/** A store with a little history, and what `server doctor` says of it and of copies of it. */
import { cpSync, rmSync } from 'node:fs'
import type { Finding } from '../../cli/commands/server/doctor/finding.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { type Outcome, run } from '../cli/command-runner.ts'
import { startManaged } from './management-server.ts'
import { ACCESS_KEY, MASTER_KEY, SECRET_KEY, temporaryDirectory } from './test-clients.ts'

export const SCRAPE_TOKEN = 'canary-scrape-token-canary'
export const CONFIGURED = {
  OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
  OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY,
  OBJECT_STORE_ROOT_SECRET_KEY: SECRET_KEY,
  OBJECT_STORE_METRICS_SCRAPE_TOKEN: SCRAPE_TOKEN,
  OBJECT_STORE_S3_BIND: '127.0.0.1:0',
  OBJECT_STORE_API_BIND: '127.0.0.1:0',
  OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:0',
}
/** A store with a little history. */
export const root = temporaryDirectory()
export const paths = new StorePaths(root)
/** The journal that it had when it was made. */
export const early = temporaryDirectory()
await (await startManaged({ dataDirectory: root })).stop()
cpSync(paths.journal, early, { recursive: true })
const second = await startManaged({ dataDirectory: root })
await second.raw('PUT', '/bucket')
await second.raw('PUT', '/bucket/key', { body: 'x'.repeat(100_000) })
await second.stop()
// Several specs of a process use it, so no test may remove it.
process.once('exit', () => {
  for (const directory of [root, early]) rmSync(directory, { recursive: true, force: true })
})

export function doctor(environment: Record<string, string> = {}, ...words: string[]): Promise<Outcome> {
  const whole = { ...CONFIGURED, OBJECT_STORE_DATA_DIR: root, ...environment }
  return run(['server', 'doctor', ...words], { environment: whole })
}

interface Report {
  readonly exitCode: number
  readonly healthy: boolean
  readonly checks: readonly Finding[]
  /** Status and detail of one check. */
  readonly of: (check: string) => string
  /** The checks that failed. */
  readonly failed: readonly string[]
}

export async function report(environment: Record<string, string> = {}): Promise<Report> {
  const { exitCode, stdout } = await doctor(environment, '--json')
  const { healthy, checks } = JSON.parse(stdout) as { healthy: boolean; checks: Finding[] }
  const of = (name: string) =>
    checks.filter(({ check }) => check === name).map((one) => `${one.status}: ${one.detail}`)[0] ?? ''
  const failed = checks.filter(({ status }) => status === 'failed').map(({ check }) => check)
  for (const { check, status, next } of checks) {
    const isWell = status === 'ok' || status === 'skipped'
    if (isWell === (next !== undefined)) throw new Error(`${check} is ${status}, and what to do next is ${next}`)
  }
  return { exitCode, healthy, checks, of, failed }
}
