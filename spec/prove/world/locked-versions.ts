/** Versions under locks of every kind, and everything that would remove them: by name, several at once, by age, by a clock. */
import * as fc from 'fast-check'
import { DAY, HOUR, type Place } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Operation } from '../../model/expectation.ts'
import { LifecycleStep } from '../../model/lifecycle-step.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { deleteObjects } from '../../model/operations/batch-deletions.ts'
import { deleteObject } from '../../model/operations/deletions.ts'
import { createRule } from '../../model/operations/lifecycle-rules.ts'
import { putLegalHold } from '../../model/operations/locks.ts'
import { type AskedLock, putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { wireId } from '../../model/state.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import type { WireAnswer } from '../../support/wire-client.ts'

const BUCKET = 'locked'
const KEYS = ['a', 'a/b', 'held'] as const
const VERSIONS_MAXIMUM = 5
/** A wrong clock that the store does not notice (`CLOCK_TOLERANCE`). */
const UNNOTICED_MILLISECONDS = 20_000

/** What becomes of them. */
const WAYS = ['at once', 'after the retentions', 'several at once', 'by age', 'while the clock is behind'] as const
type Way = (typeof WAYS)[number]

interface Written extends Place {
  readonly versionId: string
}

class LockedVersions extends Step {
  readonly #way: Way
  readonly #seed: number

  constructor(way: Way, seed: number) {
    super(`versions under locks, removed ${way}`)
    this.#way = way
    this.#seed = seed
  }

  override check({ worlds, world, moment, clock }: Model): boolean {
    // Farther times than these are chosen by retentions alone, and cannot be counted from.
    return worlds.length === 1 && world.buckets.get(BUCKET)?.lockEnabled === true && moment.now < clock + 1000 * DAY
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    model.log.push(String(this))
    if (this.#way === 'while the clock is behind') await clockGoesBack(model, store)
    const written = await this.#write(model, store, random)
    if (this.#way === 'after the retentions') await setClock(model, store, model.moment.now + 2 * HOUR)
    if (this.#way === 'while the clock is behind') await setClock(model, store, model.clock + 1)
    if (written.length === 0) return
    if (this.#way === 'by age') await this.#age(model, store)
    else if (this.#way === 'several at once') await carryOut(model, store, batchOf(written, random))
    else for (const one of written) await carryOut(model, store, deletionOf(one, random))
    await compare(model, store)
  }

  async #write(model: Model, store: ModelStore, random: Random): Promise<Written[]> {
    const written: Written[] = []
    // Of one key, so that all but the newest come due, and locked for longer than that takes.
    const [keys, lastsFor] = this.#way === 'by age' ? [KEYS.slice(0, 1), 40 * DAY] : [KEYS, HOUR]
    for (let count = 2 + random.below(VERSIONS_MAXIMUM - 1); count > 0; count -= 1) {
      const key = random.of(keys)
      const lock = lockBy(random, model.clock + lastsFor)
      const content = contentOf(random.below(4), random.of([1, 11, 2049]))
      await carryOut(
        model,
        store,
        putObject({ bucket: BUCKET, key, content, headers: [], lock, condition: UNCONDITIONAL }),
      )
      const { world } = model
      const version = world.current(world.buckets.get(BUCKET), key)
      const versionId = version && wireId(version)
      if (versionId === undefined) continue
      const name = { bucket: BUCKET, key, versionId }
      written.push(name)
      if (random.below(4) === 0) await carryOut(model, store, putLegalHold(name, random.below(2) === 0))
    }
    return written
  }

  /** All but the newest are old enough. */
  async #age(model: Model, store: ModelStore): Promise<void> {
    const rule = { prefix: '', enabled: true, expirationDays: undefined, noncurrentDays: 1 }
    await carryOut(model, store, createRule(BUCKET, rule))
    const pass = new LifecycleStep(2)
    if (pass.check(model)) await pass.run(model, store)
  }
}

/** The clock was a little ahead, and is right again: what is asked for is judged by the later of the two times. */
async function clockGoesBack(model: Model, store: ModelStore): Promise<void> {
  const clock = model.moment.now
  await setClock(model, store, clock + HOUR + UNNOTICED_MILLISECONDS)
  await setClock(model, store, clock + HOUR - UNNOTICED_MILLISECONDS)
}

async function setClock(model: Model, store: ModelStore, clock: number): Promise<void> {
  model.log.push(`clock set to ${new Date(clock).toISOString()}`)
  await store.setClock(clock)
  model.setClock(clock)
}

/** @param end of a retention, about the time of the journal where the clock is behind it */
function lockBy(random: Random, end: number): AskedLock {
  const until = random.of([end, end, end - HOUR + UNNOTICED_MILLISECONDS])
  const kinds: readonly AskedLock[] = [
    {},
    { mode: 'GOVERNANCE', until },
    { mode: 'GOVERNANCE', until },
    { mode: 'COMPLIANCE', until },
    { hold: true },
    { mode: random.of(['GOVERNANCE', 'COMPLIANCE']), until, hold: true },
  ]
  return random.of(kinds)
}

function deletionOf(name: Written, random: Random): Operation {
  return deleteObject({ ...name, bypasses: random.below(2) === 0 })
}

/** The oldest first, and locks as chance had them: a key that is refused is seldom the last one. */
function batchOf(written: readonly Written[], random: Random): Operation {
  return deleteObjects({
    bucket: BUCKET,
    deletions: written.map(({ key, versionId }) => ({ key, versionId })),
    bypasses: random.below(2) === 0,
  })
}

function carryOut(model: Model, store: ModelStore, operation: Operation): Promise<WireAnswer> {
  return model.carryOut(store, operation, 'version under a lock')
}

export const lockedVersionsStep: fc.Arbitrary<Step> = fc
  .record({ way: fc.constantFrom(...WAYS), seed: fc.nat(2 ** 31 - 1) })
  .map(({ way, seed }) => new LockedVersions(way, seed))
