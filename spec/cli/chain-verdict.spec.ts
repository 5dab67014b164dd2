/**
 * The verdict on the chain is kept: by journal verify, by audit chain page for page, and by a start; and who asks for the state of the
 * store gets it.
 */
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import tap, { test } from 'tap'
import { ChainRuns } from '../../planes/management/audit/chain-runs.ts'
import type { ChainReport } from '../../projections/audit/audit-log.ts'
import { millisecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { ChainVerdict } from '../../engine/journal/chain-verdicts.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { type ManagedServer, startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { startProcess } from '../support/server-process.ts'
import { MASTER_KEY, temporaryDirectory } from '../support/test-clients.ts'
import { type Outcome, run } from './command-runner.ts'

tap.setTimeout(120_000)

interface Chain {
  readonly state: string
  readonly records_after: number | null
  readonly whole: Record<string, unknown> | null
  readonly part: Record<string, unknown> | null
  readonly ignored: string | null
}

async function chainOf({ api }: Pick<ManagedServer, 'api'>): Promise<Chain> {
  return (await api.get<{ chain: Chain }>('GET', '/storage/status')).chain
}

/** A store of a few segments, whose server is stopped. */
async function makeStore(): Promise<string> {
  const root = temporaryDirectory()
  tap.teardown(() => rmSync(root, { recursive: true }))
  const server = await startManaged({ dataDirectory: root, segmentBytes: 64 * 1024 })
  await server.raw('PUT', '/bucket')
  for (let number = 0; number < 300; number += 1) {
    await server.raw('PUT', `/bucket/${number}`, { body: 'x'.repeat(1000) })
  }
  await server.stop()
  return root
}

let made: Promise<string> | undefined

/** A copy of that store for each test. */
async function stoppedStore(t: Test): Promise<StorePaths> {
  made ??= makeStore()
  const root = t.testdir()
  cpSync(await made, root, { recursive: true })
  return new StorePaths(root)
}

function verify(root: string, ...words: readonly string[]): Promise<Outcome> {
  return run(['journal', 'verify', '--data-dir', root, ...words])
}

test('journal verify keeps its verdict, which a server shows with who and when', async (t) => {
  const paths = await stoppedStore(t)
  const { exitCode, stdout } = await verify(paths.root, '--json')
  t.equal(exitCode, 0)
  const { head_sequence: head, head_hash: hash } = JSON.parse(stdout) as Record<string, unknown>
  const server = await startManaged({ dataDirectory: paths.root })
  const chain = await chainOf(server)
  t.match(chain, { state: 'intact', ignored: null, part: null })
  t.match(chain.whole, { from: 0, through: head, head_hash: hash, program: 'journal verify', problem: null })
  t.match(chain.whole, { verified_by: /^host:./, verified_at: /^\d{4}-.*Z$/ })
  t.ok((chain.records_after ?? 0) > 0, 'the start has written records since')
  rmSync(paths.verified)
  t.same(await chainOf(server), { state: 'unverified', records_after: null, whole: null, part: null, ignored: null })
  writeFileSync(paths.verified, 'rotten')
  t.match(await chainOf(server), { state: 'unverified', whole: null, ignored: 'its checksum is wrong' })
  await server.stop()
})

test('a copy, a backup, and a head that the caller got wrong keep nothing; a directory that cannot be written is named', async (t) => {
  const paths = await stoppedStore(t)
  for (const path of [paths.root, paths.journal]) {
    t.equal((await run(['journal', 'verify', path])).exitCode, 0)
    t.notOk(existsSync(paths.verified), 'a PATH is only read')
  }
  t.not((await verify(paths.root, '--expect-head', `5:${'0'.repeat(64)}`)).exitCode, 0)
  t.notOk(existsSync(paths.verified), 'the journal is not damaged by a wrong expectation')
  writeFileSync(paths.backupMark, '')
  t.equal((await verify(paths.root)).exitCode, 0)
  t.notOk(existsSync(paths.verified))
  rmSync(paths.backupMark)
  const before = readdirSync(paths.root)
  const making = `${paths.verified}-${process.pid}`
  cpSync(paths.journal, making, { recursive: true })
  const { exitCode, stdout, stderr } = await verify(paths.root)
  t.equal(exitCode, 0, 'the verdict on the journal is another matter')
  t.match(stdout, /intact/)
  t.match(stderr, /^object-store: the verdict was not kept: ./)
  rmSync(making, { recursive: true })
  t.same(readdirSync(paths.root), before)
})

test('damage is kept with its place, degrades, alarms the doctor, and goes with a whole verification', async (t) => {
  const paths = await stoppedStore(t)
  const first = segmentPath(paths, 0)
  const bytes = readFileSync(first)
  flipByte(first, 3000)
  const damaged = await verify(paths.root, '--json')
  t.equal(damaged.exitCode, 21)
  const [problem] = (JSON.parse(damaged.stdout) as { problems: readonly Record<string, unknown>[] }).problems
  const server = await startManaged({ dataDirectory: paths.root })
  t.match(await chainOf(server), { state: 'damaged', whole: { problem: { ...problem } } })
  const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
  const status = await run(['storage', 'status'], { environment })
  t.equal(status.exitCode, 21)
  t.match(status.stdout, /^chain\.state +damaged$|state +damaged/m)
  await server.stop()
  const doctor = async () => {
    const configured = {
      OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
      OBJECT_STORE_DATA_DIR: paths.root,
      OBJECT_STORE_S3_BIND: '127.0.0.1:0',
      OBJECT_STORE_API_BIND: '127.0.0.1:0',
      OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:0',
    }
    const { stdout } = await run(['server', 'doctor'], { environment: configured })
    return /^(\w+ +)chain +(.*)$/m.exec(stdout)?.slice(1).join('') ?? ''
  }
  t.match(await doctor(), /^failed +damage was found at record \d+, \d{4}-.* by journal verify of host:/)
  const process = await startProcess({ dataDirectory: paths.root })
  t.teardown(() => process.kill9())
  const ready = (await (await fetch(`${process.apiEndpoint}/ready`)).json()) as { degraded?: unknown }
  t.same(ready.degraded, [{ name: 'journal', reason: 'damage was found in the journal; run journal verify' }])
  const scrape = async () => {
    const headers = { authorization: `Bearer ${process.scrapeToken}` }
    return (await fetch(`${process.apiEndpoint}/metrics`, { headers })).text()
  }
  t.match(await scrape(), /^object_store_chain_intact 0$/m, 'the start read only a part')
  rmSync(first)
  writeFileSync(first, bytes)
  t.equal((await verify(paths.root)).exitCode, 0, 'beside the server')
  t.same(await (await fetch(`${process.apiEndpoint}/ready`)).json(), { status: 'ready' })
  const text = await scrape()
  t.match(text, /^object_store_chain_intact 1$/m)
  t.match(text, /^object_store_chain_verified_seconds 1\.?\d+(e9)?/m)
  t.match(text, /^object_store_chain_verified_sequence \d+$/m)
  await process.kill9()
  t.match(await doctor(), /^ok +it was intact up to record \d+, verified \d{4}-.* by journal verify of host:/)
  writeFileSync(paths.verified, 'rotten')
  t.match(await doctor(), /^warning +\S+verified is ignored: its checksum is wrong$/)
  rmSync(paths.verified)
  t.match(await doctor(), /^ok +the whole chain was not verified yet/)
})

test('a start keeps what it has read: a part, all of it when the projections are gone, or the damage that ended it', async (t) => {
  const paths = await stoppedStore(t)
  const startAndStop = async () => {
    const server = await startProcess({ dataDirectory: paths.root })
    await server.terminate()
  }
  const kept = () =>
    JSON.parse(readFileSync(paths.verified, 'utf8').slice(9)) as Record<'whole' | 'part', Chain['whole']>
  await startAndStop()
  t.match(kept(), { whole: null, part: { program: 'server start', by: 'system:server', problem: null } })
  rmSync(paths.projections, { recursive: true })
  rmSync(paths.snapshots, { recursive: true, force: true })
  await startAndStop()
  t.match(kept(), { whole: { from: 0, program: 'server start', problem: null }, part: null })
  chmodSync(paths.verified, 0o444)
  await startAndStop()
  t.match(kept(), { whole: { from: 0 }, part: { program: 'server start' } })
  const { through } = kept().whole as { through: number }
  t.ok((kept().part as { through: number }).through > through)
  flipByte(segmentPath(paths, -1), 600)
  await t.rejects(startProcess({ dataDirectory: paths.root }))
  t.match(kept(), { whole: { program: 'server start', through: null, problem: { sequence: null } }, part: null })
  t.match((kept().whole as { problem: { detail: string } }).problem.detail, /offset \d+/)
})

test('audit chain keeps one verdict for all its pages', async (t) => {
  const paths = await stoppedStore(t)
  const server = await startManaged({ dataDirectory: paths.root })
  t.teardown(() => server.stop())
  const page = async (from: number, limit = 100) => {
    const path = `/audit/chain?from=${from}&limit=${limit}`
    return (await server.api.get<{ next_from: number | null }>('GET', path)).next_from
  }
  let next: number | null = 0
  for (let pages = 0; next !== null; pages += 1) {
    t.equal((await chainOf(server)).whole, null, `nothing is kept after ${pages} pages`)
    next = await page(next)
  }
  const chain = await chainOf(server)
  t.match(chain, { state: 'intact', whole: { from: 0, program: 'audit chain' } })
  t.match(chain.whole, { verified_by: 'management:system-administrator system', head_hash: /^[0-9a-f]{64}$/ })
  await page(300, 10_000)
  t.match((await chainOf(server)).part, { from: 300, problem: null })
  t.match((await chainOf(server)).whole, { from: 0, through: chain.whole?.['through'] }, 'a part replaces no whole')
  t.same(server.failures, [])
})

function report(from: number, nextFrom: number | undefined, problem?: number): ChainReport {
  const place = { segmentFirstSequence: 0, offset: 700 }
  const at = (sequence: number) => ({ sequence, lastSequence: sequence, verdict: 'content changed', place, detail: '' })
  return {
    from: sequenceOf(from),
    nextFrom: nextFrom === undefined ? undefined : sequenceOf(nextFrom),
    headSequence: sequenceOf(1000),
    headHash: 'ab'.repeat(32),
    checked: 1,
    verified: 1,
    problems: problem === undefined ? [] : [at(problem)],
  } as ChainReport
}

function caller(id: string) {
  return { role: 'auditor', credentialId: id } as const
}

test('pages of several callers, out of order, with damage, and of too many callers', (t) => {
  const kept: ChainVerdict[] = []
  const failed: unknown[] = []
  let fails = false
  const keep = (verdict: ChainVerdict) => {
    if (fails) throw new Error('full')
    kept.push(verdict)
  }
  const runs = new ChainRuns(
    { keep },
    () => millisecondsOf(7),
    (error) => failed.push(error),
  )
  runs.verified(caller('a'), report(0, 100))
  runs.verified(caller('b'), report(100, undefined))
  t.match(kept.splice(0), [{ from: 100, through: 1000, by: 'management:auditor b' }], "another's pages are not added")
  runs.verified(caller('a'), report(100, undefined))
  t.match(kept.splice(0), [{ from: 0, through: 1000, atMilliseconds: 7 }])
  runs.verified(caller('a'), report(100, undefined))
  t.match(kept.splice(0), [{ from: 100 }], 'a run that has ended does not go on')
  runs.verified(caller('a'), report(0, 100))
  runs.verified(caller('a'), report(200, 300))
  runs.verified(caller('a'), report(300, undefined))
  t.match(kept.splice(0), [{ from: 200 }], 'what was left out is not verified')
  runs.verified(caller('a'), report(0, 100, 50))
  t.match(kept.splice(0), [{ from: 0, through: 99, headHash: undefined, problem: { sequence: 50 } }], 'damage at once')
  runs.verified(caller('a'), report(100, undefined))
  t.match(kept.splice(0), [{ from: 0, through: 1000, problem: { sequence: 50, offset: 700 } }], 'and at the end')
  runs.verified(caller('a'), report(0, 100))
  for (let number = 0; number < 64; number += 1) runs.verified(caller(String(number)), report(0, 100))
  runs.verified(caller('a'), report(100, undefined))
  runs.verified(caller('63'), report(100, undefined))
  t.match(kept.splice(0), [{ from: 100 }, { from: 0 }], 'the oldest of too many is forgotten')
  fails = true
  runs.verified(caller('a'), report(0, undefined))
  t.match(failed, [{ message: 'full' }], 'a verdict that cannot be kept ends no answer')
  t.end()
})
