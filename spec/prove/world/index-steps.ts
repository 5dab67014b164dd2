/** The record index: made while others work, cut short, damaged; questions to the audit log are answered as without it. */
import * as fc from 'fast-check'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { AuditLog } from '../../../projections/audit/audit-log.ts'
import type { AuditQuery } from '../../../projections/audit/audit-query.ts'
import { serverTurns } from '../../../projections/audit/turns.ts'
import { RecordIndex } from '../../../projections/record-index/record-index.ts'
import { microsecondsOf } from '../../../engine/brands.ts'
import { BUCKETS, KEYS } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import type { SuddenEnd, WorldHost } from './world-host.ts'
import { type WorldStore, worldOf } from './world-store.ts'

const QUESTIONS = 6
const PAGE = 50
/** Of the disk, while files are made. */
const OPERATIONS = 12

const EVENTS = ['nothing', 'nothing', 'a bit turns', 'a cut', 'power', 'kill'] as const
type Happening = (typeof EVENTS)[number]

class Indexing extends Step {
  readonly #happening: Happening
  readonly #seed: number

  constructor(happening: Happening, seed: number) {
    super(`the record index is made, and questions are asked: ${happening}`)
    this.#happening = happening
    this.#seed = seed
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const random = new Random(this.#seed)
    model.log.push(String(this))
    if (this.#happening === 'power' || this.#happening === 'kill') {
      const strike = { kind: this.#happening satisfies SuddenEnd, operations: 1 + random.below(OPERATIONS) }
      await world.strike([], strike, 0, () => world.jobs.index())
      model.restarts += 1
      await compare(model, store)
    }
    const made = await world.jobs.index()
    model.tally.add('record index', made > 1 ? 'done' : 'refused')
    const isSpoilt = this.#happening === 'a bit turns' || this.#happening === 'a cut'
    if (isSpoilt) spoil(world.host, this.#happening, random)
    await world.rest()
    for (let count = 0; count < QUESTIONS; count += 1) await ask(model, world, random)
    await compare(model, store)
  }
}

/** Turns a bit of a file, or cuts it. */
function spoil({ disk, paths }: WorldHost, how: Happening, random: Random): void {
  const names = disk.list(paths.recordIndex)
  if (names.length === 0) return
  const file = disk.openToWrite(`${paths.recordIndex}/${random.of(names)}`)
  const place = random.below(file.size())
  if (how === 'a cut') file.truncate(place)
  else {
    const old = Buffer.alloc(1)
    file.readAt(old, place, 1)
    file.writeAt(Buffer.of((old[0] ?? 0) ^ (1 << random.below(8))), place)
  }
  file.sync()
  file.close()
}

/** Asks the same of the log with its index, and of one that has none. @throws Error when the answers differ */
async function ask(model: Model, { server, host }: WorldStore, random: Random): Promise<void> {
  const { disk, verifySpan } = server.ground
  const { paths } = host
  const { environment } = server.session
  const withIndex = new AuditLog(disk, paths, environment, verifySpan)
  // Nothing is in that place.
  const without = new AuditLog(disk, paths, environment, verifySpan, new RecordIndex(disk, new StorePaths('/nowhere')))
  const bucket = random.of(BUCKETS)
  const asked = random.of([
    { bucket },
    { bucket, key: random.of(KEYS) },
    { bucket, keyPrefix: 'a' },
    { principal: random.of(['system:root', 'management:system', 'nobody']) },
  ])
  const newestFirst = random.below(2) === 0
  const query = { ...asked, newestFirst, limit: PAGE } as const
  const [found, expected] = [await sequencesOf(withIndex, query), await sequencesOf(without, query)]
  const line = `records of ${JSON.stringify(asked)}${newestFirst ? ', the newest first' : ''}`
  model.log.push(`${line}: ${expected.length}`)
  if (found.join() !== expected.join()) throw new Error(`${line} are ${found.join()} instead of ${expected.join()}`)
}

async function sequencesOf(log: AuditLog, asked: Partial<AuditQuery> & { readonly limit: number }): Promise<number[]> {
  const found: number[] = []
  const range = { sinceMicroseconds: microsecondsOf(0), untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY) }
  for (let after: AuditQuery['after']; ; ) {
    const page = await log.query({ ...range, ...asked, after }, serverTurns)
    found.push(...page.records.map(({ sequence }) => sequence))
    if (page.next === undefined) return found
    after = page.next
  }
}

export const indexStep: fc.Arbitrary<Step> = fc
  .record({ happening: fc.constantFrom(...EVENTS), seed: fc.nat(2 ** 31 - 1) })
  .map(({ happening, seed }) => new Indexing(happening, seed))
