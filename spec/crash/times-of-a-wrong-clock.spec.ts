/**
 * A server on a host whose clock is wrong for a while: what people see has the time of the host (decision 0229).
 * Proves: RES-OBJ-02.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { ApiClient, bearer } from '../support/api-client.ts'
import { csvRows, exportOf } from '../support/export-client.ts'
import { askStranger, verifyAtRest } from '../support/journals/journal-verdicts.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { SteppedClock } from '../support/stepped-clock.ts'
import { ACCESS_KEY, MASTER_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { DAY, lockLines } from '../support/wire-locks.ts'

const TOKEN = 'system-token-of-thirty-two-or-more'
const HOUR = DAY / 24

interface AuditEvent {
  readonly event_id: string
  readonly timestamp: string
  readonly order_time?: string
  readonly operation: string
  readonly resource: string
  readonly result: string
}

/** What was written at one time of the clock. */
interface Moment {
  readonly name: string
  /** Times of the host around it, in milliseconds. */
  readonly begin: number
  readonly end: number
  /** Whether the clock was behind the journal. */
  readonly isBehind: boolean
}

/** A store, its clock, and a server that goes by it. */
class WrongClockStore {
  readonly clock: SteppedClock
  dataDirectory: string
  readonly moments: Moment[] = []
  #server: ProcessServer | undefined
  readonly #t: Test

  constructor(t: Test, directory: string) {
    this.#t = t
    this.clock = new SteppedClock(directory)
    this.dataDirectory = `${directory}/data`
  }

  get server(): ProcessServer {
    if (this.#server === undefined) throw new Error('no server runs')
    return this.#server
  }

  async start(): Promise<void> {
    const environment = { ...this.clock.environment, OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN }
    const server = await startProcess({ dataDirectory: this.dataDirectory, environment })
    this.#t.teardown(() => server.process.kill('SIGKILL'))
    this.#server = server
  }

  async stop(): Promise<void> {
    this.#t.equal(await this.server.terminate(), 0, 'the server stops in order')
    await this.server.stop()
    this.#server = undefined
  }

  async put(target: string, body = '', headers: readonly (readonly [string, string])[] = []) {
    const answer = await this.server.wire.send('PUT', target, { body, headers, sign: { now: this.clock.now() } })
    this.#t.equal(answer.status, 200, `PUT ${target}: ${answer.text}`)
    return answer
  }

  /** Sets the clock, and writes an object at that time. */
  async write(name: string, offset: number, isBehind: boolean): Promise<void> {
    this.clock.step(offset)
    const begin = this.clock.now()
    await this.put(`/times/${name}`, name)
    this.moments.push({ name, begin, end: this.clock.now(), isBehind })
  }

  async api<T>(work: (api: ApiClient) => Promise<T>): Promise<T> {
    const api = ApiClient.of(this.server.apiEndpoint, bearer(TOKEN), () => undefined)
    try {
      return await work(api)
    } finally {
      api.close()
    }
  }

  cli(...words: string[]): string {
    const { status, stdout, stderr } = spawnSync('node', ['cli/object-store.mjs', ...words], {
      encoding: 'utf8',
      env: {
        ...process.env,
        OBJECT_STORE_DATA_DIR: this.dataDirectory,
        OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
        OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY,
        OBJECT_STORE_ROOT_SECRET_KEY: SECRET_KEY,
      },
    })
    this.#t.equal(status, 0, `${words.join(' ')}: ${stderr}`)
    return stdout
  }
}

/** A range of time around a moment, to the second of the host's clock and a second more on both sides. */
function around({ begin, end }: Moment): { readonly from: string; readonly to: string } {
  return { from: new Date(begin - 1000).toISOString(), to: new Date(end + 1000).toISOString() }
}

function isWithin(time: string, { begin, end }: Moment): boolean {
  const milliseconds = Date.parse(time)
  return milliseconds >= Math.floor(begin / 1000) * 1000 - 1000 && milliseconds <= end + 1000
}

/** Everything that can be asked about a moment by its time says what happened then. */
async function assertMoment(t: Test, store: WrongClockStore, moment: Moment): Promise<void> {
  const { name, isBehind } = moment
  const { from, to } = around(moment)
  const resource = `bucket:times/${name}`
  const isOf = (event: AuditEvent) => event.resource === resource && event.operation === 's3:PUT'
  await store.api(async (api) => {
    for (const order of ['asc', 'desc']) {
      const query = new URLSearchParams({ since: from, until: to, order, limit: '1000' })
      const { events } = await api.get<{ events: AuditEvent[] }>('GET', `/audit/events?${query}`)
      const own = events.filter(isOf)
      t.equal(own.length, 2, `${name}: its attempt and outcome are found, ${order}`)
      t.ok(
        own.every(({ timestamp }) => isWithin(timestamp, moment)),
        `${name}: with the time of the host`,
      )
      t.ok(
        own.every((one) => (one.order_time !== undefined) === isBehind),
        `${name}: says whether the times differ`,
      )
    }
    const query = new URLSearchParams({ since: from, until: to })
    const { events } = await api.get<{ events: { time: string; object: string }[] }>('GET', `/events?${query}`)
    t.match(
      events.filter(({ object }) => object === name).map(({ time }) => isWithin(time, moment)),
      [true],
      `${name}: its event`,
    )
    const { created_at: created } = await api.get<{ created_at: string }>('GET', `/buckets/times/object/${name}`)
    t.ok(isWithin(created, moment), `${name}: created ${created}`)
  })
  const head = await store.server.wire.send('HEAD', `/times/${name}`, { sign: { now: store.clock.now() } })
  t.ok(isWithin(String(head.headers['last-modified']), moment), `${name}: Last-Modified`)
  const { apiEndpoint } = store.server
  const json = JSON.parse((await exportOf(apiEndpoint, TOKEN, { from, to })).text) as AuditEvent[]
  t.equal(json.filter(isOf).length, 2, `${name}: an export of its minute`)
  const rows = csvRows((await exportOf(apiEndpoint, TOKEN, { from, to, format: 'csv' })).text)
  const [columns = []] = rows
  const own = rows.filter(
    (row) => row[columns.indexOf('resource')] === resource && row[columns.indexOf('operation')] === 's3:PUT',
  )
  t.equal(columns.length, 10, 'the columns of the CSV are as they were')
  t.ok(own.every((row) => String(row[columns.indexOf('metadata')]).includes('order_time') === isBehind))
}

test('a clock that was ahead and behind leaves every time right, also after restarts, a replay and a restore', async (t) => {
  t.setTimeout(300_000)
  const directory = t.testdir({ data: {} })
  const store = new WrongClockStore(t, directory)
  await store.start()
  await store.put('/times')
  await store.write('right', 0, false)
  await store.write('ahead', 2 * DAY, false)
  await store.write('back', 0, true)
  await store.write('hour-behind', -HOUR, true)
  await store.stop()
  store.clock.step(-DAY)
  await store.start()
  await store.write('day-behind', -DAY, true)
  await store.write('ahead-again', 3 * DAY, false)
  await store.write('now', 0, true)
  for (const moment of store.moments) await assertMoment(t, store, moment)

  const present = { from: new Date(store.clock.now() - 120_000).toISOString() }
  const exported = JSON.parse((await exportOf(store.server.apiEndpoint, TOKEN, present)).text) as AuditEvent[]
  t.equal(exported.at(-1)?.operation, 'audit.export', 'an export up to the present ends with its own record')
  const [manifest, account] = await store.api(async (api) => [
    await api.get<{ records: number; sequences: { parts?: number } }>(
      'GET',
      `/audit/export/manifest?${new URLSearchParams(present)}`,
    ),
    await api.get<{ account: { created_at: string } }>('POST', '/service-accounts', { name: 'n', description: 'd' }),
  ])
  t.equal(manifest.records, exported.length, 'the manifest counts the same')
  t.ok((manifest.sequences.parts ?? 1) > 1, 'and says that they are not one row')
  t.ok(
    JSON.stringify(account).includes(new Date(store.clock.now()).toISOString().slice(0, 10)),
    'an account has the date',
  )

  await store.stop()
  const { journal, projections, snapshots } = new StorePaths(store.dataDirectory)
  t.match(await verifyAtRest(journal, { masterKey: MASTER_KEY }), { intact: true, problems: [] })
  t.match(askStranger(journal), [/^intact /])
  const shown = store.cli('journal', 'show', store.dataDirectory, '--key', 'back').trim().split('\n')
  t.ok(
    shown.every((line) => (JSON.parse(line) as AuditEvent).order_time !== undefined),
    'journal show says so',
  )

  for (const path of [projections, snapshots]) rmSync(path, { recursive: true, force: true })
  await store.start()
  for (const moment of store.moments) await assertMoment(t, store, moment)
  await store.stop()

  store.cli('backup', `${directory}/backup`)
  store.cli('restore', `${directory}/backup`, '--to', `${directory}/restored`)
  store.dataDirectory = `${directory}/restored`
  await store.start()
  for (const moment of store.moments) await assertMoment(t, store, moment)
  await store.stop()
  t.match(await verifyAtRest(new StorePaths(store.dataDirectory).journal), { intact: true, problems: [] })
})

test('a retention and a link that are made while the clock is behind end by the order of the journal', async (t) => {
  t.setTimeout(120_000)
  const store = new WrongClockStore(t, t.testdir({ data: {} }))
  await store.start()
  await store.put('/locked', '', [['x-amz-bucket-object-lock-enabled', 'true']])
  store.clock.step(2 * DAY)
  await store.put('/locked/first')
  store.clock.step(0)
  const until = new Date(store.clock.now() + DAY).toISOString()
  const sign = { now: store.clock.now() }
  const soon = await store.server.wire.send('PUT', '/locked/soon', {
    headers: lockLines({ mode: 'COMPLIANCE', until }),
    sign,
  })
  t.equal(soon.status, 400, 'a retention that has ended by the order of the journal is refused')
  const { created_at: created, expires_at: expires } = await store.api((api) =>
    api.get<{ created_at: string; expires_at: string }>('POST', '/buckets/locked/object-shares/first', {
      expires_in_seconds: 3600,
    }),
  )
  t.ok(Date.parse(created) <= store.clock.now(), 'a link was created now')
  t.ok(Date.parse(expires) >= store.clock.now() + 2 * DAY, 'and works for the hour after the last entry')
  await store.stop()
})
