/** Clients of a store whose power may go at any moment, and what the store must hold by what they were told. */
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import * as fc from 'fast-check'
import type { Command, Done } from '../../../engine/commands/commands.ts'
import { DOMAIN_ERRORS } from '../../../engine/domain/error-table.ts'
import { EngineUnavailableError, OutcomeUnknownError } from '../../../engine/errors.ts'
import { AgingClient } from '../aging-client.ts'
import { journalEntries } from '../journal-entries.ts'
import { ModelCommands } from '../model/model-commands.ts'
import { differences } from '../model/model-differences.ts'
import { ModelRules } from '../../model/rules.ts'
import { ModelState } from '../../model/state.ts'
import type { Random } from '../random.ts'
import type { Place, Step } from '../model/step-recipes.ts'
import { step } from '../model/store-steps.ts'
import type { TestStore } from '../test-store.ts'

/** What a client does at most before the power goes. */
const STEPS_PER_LIFE = 120

interface Unanswered {
  readonly requestId: string
  readonly command: Command
  readonly now: number
}

/**
 * Each client sends one command after the other, to a bucket of its own, so that the order among clients does not
 * matter. What was acknowledged must be there; of a command without an answer the journal says whether it was carried
 * out, and then all of it must be there.
 */
export class ModelledClients {
  readonly #state = new ModelState()
  readonly #inFiles = new Map<string, Buffer>()
  readonly #rules = new ModelRules(this.#state, this.#inFiles)
  readonly #count: number
  readonly #aging = new AgingClient(this.#state, this.#rules)
  #unanswered: Unanswered[] = []
  /** Ids of requests that were told that nothing was changed. */
  readonly #refused = new Set<string>()
  #requests = 0
  acknowledged = 0

  constructor(count: number) {
    this.#count = count
  }

  /**
   * Takes in what the journal tells of commands without an answer, and returns what is not as it must be.
   * @param onUnreadable as that of `differences`, and `readsEvents`
   */
  async check(store: TestStore, onUnreadable?: (error: unknown) => void, readsEvents = true): Promise<string[]> {
    const wrong: string[] = []
    if (this.#unanswered.length > 0 || this.#refused.size > 0) {
      const all = journalEntries(store.paths.root, store.disk)
      for (const { requestId, sequence } of all)
        if (requestId !== undefined && this.#refused.has(requestId))
          wrong.push(`request ${requestId} was told that nothing was changed, and has entry ${sequence}`)
      this.#refused.clear()
      const entries = all.filter(({ result }) => result !== 'attempted')
      // The first of a request: that of a bypass comes after it.
      const outcomes = new Map(entries.toReversed().map((entry) => [entry.requestId, entry]))
      for (const { requestId, command, now } of this.#unanswered) {
        const outcome = outcomes.get(requestId)
        if (outcome !== undefined && !hadNoRoom(outcome.details.get('error'))) {
          this.#apply(command, outcome.sequence, now)
        }
      }
      this.#unanswered = []
    }
    wrong.push(...this.#aging.check(() => journalEntries(store.paths.root, store.disk)))
    return [...wrong, ...(await differences(store, this.#state, onUnreadable, readsEvents))]
  }

  /** Objects and versions that lifecycle rules removed so far. */
  get removals(): number {
    return this.#aging.removals
  }

  /** Requests to receivers of webhooks so far. */
  get deliveries(): number {
    return this.#aging.receiver.requests
  }

  /** Whether a request with this id was ever sent. */
  wasSent(requestId: string): boolean {
    return /^[1-9]\d*$/.test(requestId) && Number(requestId) <= this.#requests
  }

  /** All of them send commands until one has no answer. `now`: milliseconds, that of the store's clock. */
  async run(store: TestStore, random: Random, now: number, commandsMaximum: number): Promise<void> {
    const clients = Array.from({ length: this.#count }, (_, client) =>
      this.#runOne(store, `client-${client}`, random.below(2 ** 31), now, Math.min(commandsMaximum, STEPS_PER_LIFE)),
    )
    await Promise.all(clients)
  }

  /** Objects come due, are removed and delivered; by itself, since the order beside others is not the same each time. */
  async age(store: TestStore, random: Random, now: number): Promise<void> {
    const send = (command: Command) => this.#send(store, command, now)
    const newRequestId = () => String((this.#requests += 1))
    const failed = (requestId: string, error: unknown) => {
      if (doneOfRefusal(error as Error) === 'unavailable') this.#refused.add(requestId)
    }
    await this.#aging.run(store, random, now, send, { newRequestId, failed })
  }

  async #runOne(store: TestStore, bucket: string, seed: number, now: number, commands: number): Promise<void> {
    const recipes = fc.sample(step, { seed, numRuns: commands }).map((recipe) => within(recipe, bucket))
    const locks = seed % 2 === 0
    const first: Step = { kind: 'create-bucket', bucket, lock: locks, region: 'us-east-1' }
    const maker = new ModelCommands(this.#state, this.#inFiles, (name) => name === bucket)
    for (const recipe of this.#state.buckets.has(bucket) ? recipes : [first, ...recipes]) {
      let command: Command
      try {
        command = await maker.commandOf(store, recipe, now)
      } catch {
        // The upload found no power: the command was never sent.
        return
      }
      if (!(await this.#send(store, command, now))) return
    }
  }

  /** False when it had no answer. */
  async #send(store: TestStore, plain: Command, now: number): Promise<boolean> {
    this.#requests += 1
    const requestId = String(this.#requests)
    const command = { ...plain, audit: { ...plain.audit, requestId } }
    const done = await store.client.execute(command).catch(doneOfRefusal)
    if (done === 'no room') return true
    if (done === 'unavailable') {
      this.#refused.add(requestId)
      return false
    }
    if (done === undefined) {
      this.#unanswered.push({ requestId, command, now })
      return false
    }
    this.acknowledged += 1
    this.#apply(command, done.sequence, now)
    return true
  }

  #apply(command: Command, sequence: number, now: number): void {
    this.#rules.apply(command, { sequence, now, clockIsBehind: false })
  }
}

/** The model knows the rules, and not how full the disk is. */
function hadNoRoom(code: unknown): boolean {
  return code === 'storage-full'
}

/** A refusal is an answer, and has no sequence that matters. */
function doneOfRefusal(error: Error & { readonly code?: string }): Done | 'no room' | 'unavailable' | undefined {
  if (error instanceof EngineUnavailableError && !(error instanceof OutcomeUnknownError)) return 'unavailable'
  if (hadNoRoom(error.code)) return 'no room'
  const isRefusal = error.code !== undefined && Object.hasOwn(DOMAIN_ERRORS, error.code)
  return isRefusal ? { sequence: sequenceOf(0), timeMicroseconds: microsecondsOf(0) } : undefined
}

/** The same on one bucket alone. */
function within(recipe: Step, bucket: string): Step {
  const place = (one: Place): Place => ({ ...one, bucket })
  if (recipe.kind === 'copy') return { ...recipe, from: place(recipe.from), to: place(recipe.to) }
  return 'bucket' in recipe ? { ...recipe, bucket } : recipe
}
