/** The master key changes at a start, which may be cut short; what clients hold stays valid, and no earlier key opens the store. */
import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { MasterKeyMismatchError } from '../../../engine/keys/master-key-id.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import type { SuddenEnd } from './world-host.ts'
import { type WorldStore, worldOf } from './world-store.ts'

/** Of a start that opens the store twice: with the key that it has, and with the next. */
const OPENING_OPERATIONS = 90

type Interruption = { readonly end: SuddenEnd; readonly operations: number } | undefined

export class KeyChange extends Step {
  readonly #how: SuddenEnd | 'stop'
  readonly #interruption: Interruption
  readonly #rebuilds: boolean

  constructor(how: SuddenEnd | 'stop', interruption: Interruption, rebuilds: boolean) {
    super('the master key changes')
    this.#how = how
    this.#interruption = interruption
    this.#rebuilds = rebuilds
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const { host } = world
    const { masterKey: previousMasterKey } = host.masterKeys
    const masterKey = createHash('sha256').update(previousMasterKey).digest()
    const cut = this.#interruption
    const meanwhile = cut === undefined ? '' : `, and ${cut.end} ends that start within ${cut.operations} operations`
    model.log.push(`${this.#how}, and the master key changes${meanwhile}`)
    host.keyChanges += 1
    host.masterKeys = { masterKey, previousMasterKey }
    if (cut === undefined) {
      await world.restart(this.#how === 'stop' ? 'clean' : 'crash', this.#rebuilds)
    } else {
      await world.strikeStart(this.#how === 'stop' ? 'kill' : this.#how, cut.end, cut.operations)
    }
    model.tally.add('key change', 'done')
    model.restarts += 1
    await compare(model, store)
    await world.down('clean', false)
    for (const earlier of [
      { masterKey: previousMasterKey },
      { masterKey: previousMasterKey, previousMasterKey: masterKey },
    ]) {
      await requireRefused(world, earlier)
    }
    // Needed no longer.
    host.masterKeys = { masterKey }
    await world.up()
    for (const { name } of usableNames(host.disk, host.paths)) host.earlierSnapshots.add(name)
    await compare(model, store)
  }
}

/** @throws Error when the store starts with these keys */
async function requireRefused(world: WorldStore, keys: WorldStore['host']['masterKeys']): Promise<void> {
  world.host.masterKeys = keys
  const refusal = await world.up().then(
    () => undefined,
    (error: unknown) => error,
  )
  if (refusal instanceof MasterKeyMismatchError) return
  throw new Error(`a start with a key that the store had before: ${String(refusal)}`, { cause: refusal })
}

export const masterKeyStep: fc.Arbitrary<Step> = fc
  .record({
    how: fc.constantFrom<SuddenEnd | 'stop'>('stop', 'kill', 'power'),
    interruption: fc.option(
      fc.record({
        end: fc.constantFrom<SuddenEnd>('power', 'kill'),
        operations: fc.integer({ min: 1, max: OPENING_OPERATIONS }),
      }),
      { nil: undefined },
    ),
    rebuilds: fc.boolean(),
  })
  .map(({ how, interruption, rebuilds }) => new KeyChange(how, interruption, rebuilds))
