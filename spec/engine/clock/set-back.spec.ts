/** A wrong time of the journal is set back where nothing has ended in between, and every reader follows (decision 0019). */
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import { type JournalEntry, journalEntries } from '../../support/journal-entries.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { type ManagedServer, startManaged } from '../../support/management-server.ts'
import { DAY, lockLines } from '../../support/wire-locks.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'
import { dumpStore } from '../../support/test-store.ts'

const HOUR = DAY / 24
const REASON = { reason: 'the clock of the host had run two days ahead' }

/** A store whose clock a spec sets; signatures go by the true one. */
class WrongClock {
  readonly dataDirectory: string
  #offset = 0
  #server: ManagedServer | undefined

  constructor(t: Test) {
    this.dataDirectory = temporaryDirectory()
    t.teardown(async () => {
      await this.#server?.stop()
      rmSync(this.dataDirectory, { recursive: true, force: true })
    })
  }

  get server(): ManagedServer {
    if (this.#server === undefined) throw new Error('no server runs')
    return this.#server
  }

  now(): number {
    return Date.now() + this.#offset
  }

  step(milliseconds: number): void {
    this.#offset = milliseconds
  }

  async start(): Promise<void> {
    this.#server = await startManaged({ dataDirectory: this.dataDirectory, clock: () => this.now() })
  }

  async stop(): Promise<void> {
    await this.server.stop()
    this.#server = undefined
  }

  async put(target: string, headers: readonly (readonly [string, string])[] = []): Promise<void> {
    const { status, text } = await this.server.wire.send('PUT', target, { headers: [...headers], body: '' })
    if (status !== 200) throw new Error(`${target}: ${status} ${text}`)
  }

  /** Order time of the last entry, in milliseconds. */
  mark(): number {
    return this.server.store.catalog.snapshot().journalMilliseconds()
  }

  setBack() {
    return this.server.api.call('POST', '/clock/set-back', REASON)
  }

  entries(): JournalEntry[] {
    return journalEntries(this.dataDirectory)
  }
}

async function assertSound(t: Test, store: WrongClock): Promise<void> {
  const journal = store.server.paths.journal
  const { intact, problems } = await verifyAtRest(journal)
  t.same([intact, problems], [true, []])
  t.match(askStranger(journal)[0], /^intact /)
}

/** A store whose journal was two days ahead and is set back, with entries after that. */
async function setBackStore(t: Test): Promise<WrongClock> {
  const store = new WrongClock(t)
  await store.start()
  await store.put('/bucket')
  store.step(2 * DAY)
  await store.put('/bucket/ahead')
  store.step(0)
  await store.put('/bucket/behind')
  const answer = await store.setBack()
  if (answer.status !== 200) throw new Error(answer.text)
  await store.put('/bucket/after')
  return store
}

test('it is refused while anything that has ended would hold or open again, and says what', {
  timeout: 120_000,
}, async (t) => {
  const store = new WrongClock(t)
  await store.start()
  const { api } = store.server
  t.match(await store.setBack(), { status: 409, code: 'CLOCK_NOT_BEHIND' })
  await store.put('/locked', [['x-amz-bucket-object-lock-enabled', 'true']])
  const until = new Date(store.now() + DAY).toISOString()
  await store.put('/locked/kept', lockLines({ mode: 'GOVERNANCE', until }))
  await store.put('/open')
  await store.put('/open/a')
  const lifetime = { expires_in_seconds: 3600 }
  const share = await api.get<{ id: string }>('POST', '/buckets/open/object-shares/a', lifetime)
  const revoked = await api.get<{ id: string }>('POST', '/buckets/open/object-shares/a', lifetime)
  await api.get('POST', `/shares/${revoked.id}/revoke`).catch(() => api.call('DELETE', `/object-shares/${revoked.id}`))
  const embedded = { ...lifetime, allowed_origins: ['*'] }
  const embed = await api.get<{ id: string }>('POST', '/buckets/open/object-embeds/a', embedded)
  const token = await api.get<{ id: string }>('POST', '/management-tokens', { name: 'n', role: 'auditor', ...lifetime })
  const { account } = await api.get<{ account: { id: string } }>('POST', '/service-accounts', { name: 'n' })
  const path = `/service-accounts/${account.id}/temporary-credentials`
  const credential = await api.get<{ credential_id: string }>('POST', path, lifetime)
  store.step(2 * DAY)
  await store.put('/open/ahead')
  store.step(0)
  const mark = store.mark()
  const refused = await store.setBack()
  t.match(refused, { status: 409, code: 'CLOCK_HELD' })
  for (const id of [share.id, embed.id, token.id]) t.ok(refused.message?.includes(id), id)
  t.ok(refused.message?.includes(credential.credential_id), credential.credential_id)
  t.notOk(refused.message?.includes(revoked.id))
  t.match(refused.message, /retention of locked\/kept version /)
  t.equal(store.mark(), mark, 'nothing was set back')

  await api.call('DELETE', `/shares/${share.id}`)
  await api.call('DELETE', `/embeds/${embed.id}`)
  await api.call('DELETE', `/management-tokens/${token.id}`)
  await api.call('DELETE', `/service-accounts/${account.id}`)
  const left = await store.setBack()
  t.match(left, { status: 409, code: 'CLOCK_HELD' })
  t.match(left.message, /have ended, and would hold or open again: retention of locked\/kept version [^,]*\. Delete/)
  t.equal((await api.as(undefined).call('POST', '/clock/set-back', REASON)).status, 401)
  t.equal((await api.call('POST', '/clock/set-back', { reason: '' })).status, 400)

  // The host's clock passes the retention.
  store.step(DAY + HOUR)
  const done = await store.setBack()
  t.equal(done.status, 200, done.text)
  t.ok(Math.abs(store.mark() - store.now()) < HOUR, 'the journal goes by the clock of the host')
  t.same(store.server.undocumented, [])
  await assertSound(t, store)
})

test('after it records, objects and order times are right, also after a restart and from nothing', {
  timeout: 120_000,
}, async (t) => {
  const store = await setBackStore(t)
  const entries = store.entries()
  const [attempt, outcome] = entries.filter(({ operation }) => operation === 'POST /api/v1/clock/set-back')
  t.match([attempt?.details.get('reason'), outcome?.details.get('reason')], [REASON.reason, REASON.reason])
  t.equal(outcome?.intent, attempt?.sequence)
  const [change] = outcome?.changes ?? []
  const times = { from: attempt?.orderMicroseconds, to: outcome?.orderMicroseconds }
  t.match(change, { name: 'clock.set-back', ...times, reason: REASON.reason })
  t.equal(outcome?.timeMicroseconds, outcome?.orderMicroseconds)
  const after = entries.filter(({ sequence }) => sequence >= Number(outcome?.sequence))
  for (const { orderMicroseconds, timeMicroseconds } of after) {
    t.equal(orderMicroseconds, timeMicroseconds)
    t.ok(Math.abs(timeMicroseconds / 1000 - store.now()) < HOUR)
  }
  const lower = entries.filter((entry, at) => entry.orderMicroseconds < (entries[at - 1]?.orderMicroseconds ?? 0))
  t.same(lower, [outcome], 'no other entry goes back')
  const { headers } = await store.server.wire.send('GET', '/bucket/after')
  t.ok(Math.abs(Date.parse(String(headers['last-modified'])) - store.now()) < HOUR)
  await assertSound(t, store)

  await store.stop()
  await store.start()
  t.ok(Math.abs(store.mark() - store.now()) < HOUR, 'a start goes on from there')
  t.match(await store.setBack(), { status: 409, code: 'CLOCK_NOT_BEHIND' })
  await store.put('/bucket/later')
  const { paths } = store.server
  await store.stop()
  const rows = await dumpStore(paths)
  rmSync(paths.projections, { recursive: true })
  await store.start()
  t.ok(Math.abs(store.mark() - store.now()) < HOUR)
  await assertSound(t, store)
  await store.stop()
  const again = await dumpStore(paths)
  for (const table of ['objects', 'versions', 'ages', 'link-ends', 'access-ends', 'lock-ends']) {
    t.same(again[table], rows[table], table)
  }
  await store.start()
})

test('what expired stays so by the clock that was set back, and what is made counts from it', {
  timeout: 120_000,
}, async (t) => {
  const store = await setBackStore(t)
  const asked = { name: 'n', role: 'auditor', expires_in_seconds: 60 }
  const made = await store.server.api.get<{ expires_at: string }>('POST', '/management-tokens', asked)
  t.ok(Math.abs(Date.parse(made.expires_at) - store.now()) < HOUR)
  t.ok(Math.abs(store.server.session.expiryClock() - store.now()) < HOUR, 'in the memory of the threads, too')
})
