/** Random histories of one bucket with Object Lock: its clock is set, the server restarts, projections are made again. */
import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import tap, { type Test, test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { checkProjections } from '../../../projections/check.ts'
import { LockModel, type ModelRetention, type Verdict } from '../../support/lock-model.ts'
import { CLOCK_TOLERANCE_SECONDS, startInThread, temporaryDirectory } from '../../support/test-server.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import {
  BYPASS,
  createLockBucket,
  DAY,
  lockLines,
  lockOf,
  setDefaultRetention,
  setLegalHold,
  setRetention,
} from '../../support/wire-locks.ts'
import { put, versionIdOf, versionPage } from '../../support/wire-versions.ts'

const RUNS = 25
const TOLERANCE = CLOCK_TOLERANCE_SECONDS * 1000
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** Milliseconds from the time of the store; undefined is the last moment that there is. */
const OFFSETS = [1, 1000, DAY, 10 * DAY, undefined] as const

const key = fc.constantFrom('a', 'b')
/** Which version, counted from the newest; undefined is the current one. */
const at = fc.option(fc.nat({ max: 2 }), { nil: undefined })
const mode = fc.constantFrom('GOVERNANCE', 'COMPLIANCE')
const retention = fc.record({ mode, offset: fc.constantFrom(...OFFSETS) })
const maybeRetention = fc.option(retention, { nil: undefined })
const bypass = fc.boolean()
const kind = <K extends string>(name: K) => fc.constant(name)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: kind('put'),
      key,
      retention: maybeRetention,
      hold: fc.constantFrom(undefined, undefined, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('delete'), key, bypass }) },
  { weight: 8, arbitrary: fc.record({ kind: kind('destroy'), key, at: fc.nat({ max: 2 }), bypass }) },
  { weight: 6, arbitrary: fc.record({ kind: kind('retain'), key, at, retention: maybeRetention, bypass }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('hold'), key, at, hold: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('default'), mode, days: fc.constantFrom(undefined, 1, 365) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('clock'),
      by: fc.constantFrom(1, 1000, DAY, 2 * DAY, -1, -TOLERANCE, -TOLERANCE - 1, -DAY),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'replay' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type AskedRetention = { readonly mode: ModelRetention['mode']; readonly offset: number | undefined } | undefined

const dataDirectory = temporaryDirectory()
const paths = new StorePaths(dataDirectory)
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
let now = Date.now() + DAY
const start = () => startInThread({ dataDirectory, clock: () => now })
let server = await start()
tap.teardown(() => server.stop())

class Subject {
  readonly model = new LockModel(now, TOLERANCE)
  readonly bucket: string
  #writes = 0

  constructor(bucket: string) {
    this.bucket = bucket
  }

  /** Takes one step; gives what the server said and what the model says. */
  async take(one: Step): Promise<readonly [answered: string, expected: Verdict]> {
    switch (one.kind) {
      case 'put':
        return this.#put(one)
      case 'delete': {
        const headers = one.bypass ? [BYPASS] : []
        const answer = await server.raw('DELETE', `/${this.bucket}/${one.key}`, { headers })
        this.model.write(one.key, String(versionIdOf(answer)), undefined, { retention: undefined, hold: undefined })
        return [outcomeOf(answer), 'done']
      }
      case 'destroy': {
        const id = this.#idAt(one.key, one.at) ?? ''
        const headers = one.bypass ? [BYPASS] : []
        const answer = await server.raw('DELETE', `/${this.bucket}/${one.key}?versionId=${id}`, { headers })
        return [outcomeOf(answer), this.model.destroy(one.key, id, one.bypass)]
      }
      case 'retain': {
        const id = this.#idAt(one.key, one.at)
        const wanted = this.#retention(one.retention)
        const of = { versionId: id, headers: one.bypass ? [BYPASS] : [] }
        const answer = await setRetention(server, `${this.bucket}/${one.key}`, wireRetention(wanted), of)
        return [outcomeOf(answer), this.model.retain(one.key, id, wanted, one.bypass)]
      }
      case 'hold': {
        const id = this.#idAt(one.key, one.at)
        const answer = await setLegalHold(server, `${this.bucket}/${one.key}`, one.hold ? 'ON' : 'OFF', {
          versionId: id,
        })
        return [outcomeOf(answer), this.model.hold(one.key, id, one.hold)]
      }
      case 'default': {
        const inner = one.days === undefined ? undefined : `<Mode>${one.mode}</Mode><Days>${one.days}</Days>`
        this.model.defaultRetention = one.days === undefined ? undefined : { mode: one.mode, days: one.days }
        return [outcomeOf(await setDefaultRetention(server, this.bucket, inner)), 'done']
      }
      case 'clock':
        return this.#setClock(one.by)
      default:
        await restart(one.kind === 'replay')
        return ['done', 'done']
    }
  }

  async #put(one: Extract<Step, { kind: 'put' }>): Promise<readonly [string, Verdict]> {
    this.#writes += 1
    const body = `${this.bucket} ${this.#writes}`
    const wanted = this.#retention(one.retention)
    const status = one.hold ? 'ON' : 'OFF'
    const headers = lockLines({ ...wireRetention(wanted), ...(one.hold === undefined ? {} : { hold: status }) })
    const answer = await server.raw('PUT', `/${this.bucket}/${one.key}`, { body, headers })
    this.model.write(one.key, String(versionIdOf(answer)), body, { retention: wanted, hold: one.hold })
    return [outcomeOf(answer), 'done']
  }

  /** An entry marks the time before it is changed and after, so that what the journal has seen is known. */
  async #setClock(by: number): Promise<readonly [string, Verdict]> {
    await server.store.loop.drained()
    now += by
    this.model.now = now
    await put(server, 'marks/mark', '')
    this.model.high = this.model.time
    return ['done', 'done']
  }

  /** An id of the key, or one that names nothing. */
  #idAt(name: string, place: number | undefined): string | undefined {
    return place === undefined ? undefined : (this.model.versions(name)[place]?.id ?? 'A'.repeat(22))
  }

  #retention(asked: AskedRetention): ModelRetention | undefined {
    if (asked === undefined) return undefined
    return { mode: asked.mode, until: asked.offset === undefined ? LAST : this.model.time + asked.offset }
  }

  /** Every version that the rules have not let go is there, byte for byte, under the lock that it must have. */
  async compare(t: Test, name: string): Promise<void> {
    for (const { key: of, version } of this.model.all) {
      const answer = await server.raw('GET', `/${this.bucket}/${of}?versionId=${version.id}`)
      t.equal(answer.status === 200 ? answer.text : undefined, version.body, name)
      const { hold } = version
      const held = hold === undefined || (version.retention === undefined && !hold) ? {} : { hold: hold ? 'ON' : 'OFF' }
      t.same(lockOf(answer), { ...wireRetention(version.retention), ...held }, name)
    }
    const { entries } = await versionPage(server, this.bucket)
    const listed = entries.map(({ key: of, id }) => `${of} ${id}`)
    t.same(listed.toSorted(), this.model.all.map(({ key: of, version }) => `${of} ${version.id}`).toSorted(), name)
  }
}

function wireRetention(wanted: ModelRetention | undefined): { mode?: string; until?: string } {
  return wanted === undefined ? {} : { mode: wanted.mode, until: new Date(wanted.until).toISOString() }
}

function outcomeOf(answer: WireAnswer): string {
  return answer.status < 300 ? 'done' : (answer.code ?? `${answer.status}`)
}

async function restart(withoutProjections: boolean): Promise<void> {
  await server.stop()
  if (withoutProjections) rmSync(paths.projections, { recursive: true })
  server = await start()
}

test('W6: nothing that any history of requests, clocks and restarts does weakens a lock', async (t) => {
  await createLockBucket(server, 'marks')
  let buckets = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      buckets += 1
      // The clock of the run before may be behind: every run begins with one that is right.
      const [last] = (await server.journal()).slice(-1)
      now = Math.max(now, Math.ceil((last?.timeMicroseconds ?? 0) / 1000))
      const subject = new Subject(`locks-${buckets}`)
      await createLockBucket(server, subject.bucket)
      for (const one of steps) {
        const [answered, expected] = await subject.take(one)
        t.equal(answered, expected, JSON.stringify(one))
        if (answered !== expected) break
      }
      await subject.compare(t, JSON.stringify(steps))
      t.same(server.failures, [])
    }),
    { numRuns: RUNS },
  )
  await server.stop()
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] }, 'J14: row by row')
  server = await start()
})
