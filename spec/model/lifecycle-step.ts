/** The command that has the lifecycle rules carried out, and what may be gone after it. */
import { sequenceOf } from '../../engine/brands.ts'
import type { VersionSelector } from '../../engine/commands/version-name.ts'
import { deleteObject } from '../support/commands.ts'
import type { StorageEvent } from '../support/storage-events.ts'
import { DAY } from './choices.ts'
import { compare } from './comparison.ts'
import type { Moment } from './expectation.ts'
import type { Model, ModelStore } from './model.ts'
import { type DueEntry, everythingDue } from './naive-lifecycle.ts'
import { eventsIn, listEvents } from './operations/list-events.ts'
import { ModelRules } from './rules.ts'
import { ContradictionError } from './settle.ts'
import { type ModelState, wireId } from './state.ts'
import { Step } from './steps.ts'

const NO_FILES = new Map<string, Buffer>()

/** Days go by, and the rules are carried out to their end: all that is due goes, in whatever order, and nothing else. */
export class LifecycleStep extends Step {
  readonly #days: number

  constructor(days: number) {
    super(`a pass over the lifecycle rules after ${days} days and a millisecond`)
    this.#days = days
  }

  override check(model: Model): boolean {
    return [...model.world.buckets.values()].some(({ rules }) => rules.size > 0)
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    if (model.worlds.length > 1) await compare(model, store)
    if (this.#days > 0) {
      const clock = model.moment.now + this.#days * DAY + 1
      await store.setClock(clock)
      model.setClock(clock)
    }
    model.log.push(`${String(this)}, at ${new Date(model.clock).toISOString()}`)
    const { moment } = model
    const before = model.world
    await store.pass()
    const events = eventsIn(await store.send(listEvents().request))
    const passes = model.worlds.map((world) => passOf(world, events.slice(world.events.length), moment))
    const worlds = passes.filter((pass) => typeof pass !== 'string')
    if (worlds.length === 0) throw new ContradictionError(passes.join('; or '))
    model.passed(worlds)
    const removals = model.world.events.length - before.events.length
    model.tally.add('pass with removals', removals > 0 ? 'done' : 'refused')
    await compare(model, store)
  }
}

/** What a world is after a pass with these events, or what is wrong with them. */
function passOf(before: ModelState, events: readonly StorageEvent[], moment: Moment): ModelState | string {
  const world = before.copy()
  const rules = new ModelRules(world, NO_FILES)
  const { now, clockIsBehind } = moment
  for (const event of events) {
    const due = clockIsBehind ? undefined : everythingDue(world, now).find((entry) => isOf(event, entry))
    if (due === undefined) return `${JSON.stringify(event)}: it was not due`
    const { bucket, key, version, action } = due
    const named: VersionSelector = version.isNull ? 'null' : sequenceOf(version.sequence)
    const deletion = deleteObject(bucket, key)
    const command = action === 'expiration' ? deletion : { ...deletion, version: named }
    const outcome = rules.apply(command, { ...moment, sequence: world.sequence + 1 })
    if (outcome?.code !== 'done') return `${bucket}/${key}: ${outcome?.code}`
  }
  // The journal counts microseconds: of what comes due in this very millisecond some may be a little too young.
  const [left] = clockIsBehind ? [] : everythingDue(world, now - 1)
  return left === undefined ? world : `${left.bucket}/${left.key} ${wireId(left.version)} is due and was left`
}

function isOf(event: StorageEvent, { bucket, key, version, action }: DueEntry & { readonly bucket: string }): boolean {
  if (event.type !== 'object.deleted' || event.bucket !== bucket || event.object !== key) return false
  const { permanent } = event.metadata
  return permanent === true ? event.version_id === wireId(version) : action === 'expiration'
}
