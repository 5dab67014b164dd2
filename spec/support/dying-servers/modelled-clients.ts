/** Clients of a store whose power may go at any moment, and what the store must hold by what they were told. */
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import * as fc from 'fast-check'
import type { Command } from '../../../engine/commands/commands.ts'
import type { Done } from '../../../engine/commands/done.ts'
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
import { SentCommands } from './sent-commands.ts'
import type { TestStore } from '../test-store.ts'

/** What a client does at most before the power goes. */
const STEPS_PER_LIFE = 120

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
  readonly #sent = new SentCommands()
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
    if (this.#sent.isInDoubt) {
      const found = this.#sent.settle(journalEntries(store.paths.root, store.disk))
      wrong.push(...found.wrong)
      for (const { command, now, outcome } of found.settled)
        if (!hadNoRoom(outcome.details.get('error'))) this.#apply(command, outcome.sequence, now)
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
    return this.#sent.wasSent(requestId)
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
    const newRequestId = () => this.#sent.newRequestId()
    const failed = (requestId: string, error: unknown) => {
      if (doneOfRefusal(error as Error) === 'unavailable') this.#sent.refused(requestId)
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
    const { requestId, command } = this.#sent.sending(plain, now)
    const done = await store.client.execute(command).catch(doneOfRefusal)
    if (done === 'unavailable') this.#sent.refused(requestId)
    if (done === undefined || done === 'unavailable') return false
    this.#sent.answered(requestId)
    if (done === 'no room') return true
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
