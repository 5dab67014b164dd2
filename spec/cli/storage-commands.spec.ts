/**
 * `storage inspect` and `storage repair`: all pages of what the server found.
 * Proves: API-STO-04.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { joinedPages } from '../../cli/client/joined-pages.ts'
import { type Outcome, run } from './command-runner.ts'

/** The server ends a page after so many findings. */
const PAGE = 1000

const root = temporaryDirectory()
const server = await startManaged({ dataDirectory: root })
tap.teardown(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true })
})

interface Findings {
  readonly consistent: boolean | null
  readonly examined: number
  readonly truncated: boolean
  readonly next_after: string | null
  readonly foreign: readonly { readonly path: string }[]
}

function ask(...words: readonly string[]): Promise<Outcome> {
  const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
  return run(['storage', ...words], { environment })
}

async function findings(...words: readonly string[]): Promise<Findings & { readonly exitCode: number }> {
  const { exitCode, stdout } = await ask(...words, '--json')
  return { exitCode, ...(JSON.parse(stdout) as Findings) }
}

test('an inspection goes on after a page that was full', async (t) => {
  t.match(await findings('inspect'), { exitCode: 0, consistent: true, truncated: false })
  const { payloads } = new StorePaths(root)
  for (let number = 0; number < PAGE + 200; number += 1) writeFileSync(join(payloads, `foreign-${number}`), '')
  const whole = await findings('inspect')
  t.match(whole, { exitCode: 7, consistent: false, truncated: false, next_after: null })
  t.equal(new Set(whole.foreign.map(({ path }) => path)).size, PAGE + 200, 'each of them once')
  t.ok(whole.examined >= PAGE + 200)
  const part = await findings('inspect', '--maximum-entries', '5')
  t.match(part, { exitCode: 7, examined: 5, truncated: true })
  const next = await findings('inspect', '--maximum-entries', '5', '--after', part.next_after ?? '')
  t.notOk(part.foreign.some(({ path }) => next.foreign.some((other) => other.path === path)))
  const rest = await findings('inspect', '--after', part.next_after ?? '')
  t.equal(rest.foreign.length, PAGE, 'from a cursor on it is one page')
  t.match(await ask('inspect'), { exitCode: 7, stdout: /^truncated +false$/m })
})

test('a repair looks at everything too', async (t) => {
  const dry = await findings('repair')
  t.match(dry, { exitCode: 0, dry_run: true, truncated: false, removed: [] })
  t.equal(dry.foreign.length, PAGE + 200)
  t.match(await findings('repair', '--apply', '--maximum-entries', '5'), { dry_run: false, examined: 5 })
  t.match(await findings('repair', '--apply'), { dry_run: false, truncated: false, removed: [] })
  const left = readdirSync(new StorePaths(root).payloads).filter((name) => name.startsWith('foreign-'))
  t.equal(left.length, PAGE + 200, 'what is not ours is left')
})

/** A page of a report, as the server gives it. */
function reportPage(from: number, next: string | null) {
  return {
    versions: Array.from({ length: 4000 }, (_, index) => ({ key: String(from + index) })),
    held_count: 3999,
    held_total: from === 0 ? 7998 : null,
    truncated: next !== null,
    next_after: next,
  }
}

test('a report of several pages is one, with the counts of all', async (t) => {
  const pages = [reportPage(0, 'a'), reportPage(4000, null)]
  const asked: (string | undefined)[] = []
  const whole = await joinedPages(['versions'], async (after) => {
    asked.push(after)
    return pages[asked.length - 1] ?? {}
  })
  t.same(asked, [undefined, 'a'])
  t.equal((whole['versions'] as unknown[]).length, 8000)
  t.match(whole, { held_count: 7998, held_total: 7998, truncated: false, next_after: null })
  t.notOk('consistent' in whole || 'examined' in whole, 'nothing that no page has')
  const endless = await joinedPages(['versions'], async () => reportPage(0, 'more'))
  t.match(endless, { held_count: 3 * 3999, truncated: true, next_after: 'more' })
})
