/** A client of objects that come due, and the workers that remove them and deliver what happened. */
import { sequenceOf } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { Command } from '../../engine/commands/commands.ts'
import type { Done } from '../../engine/commands/done.ts'
import { EVENT_TYPES } from '../../engine/events/values.ts'
import { everythingDue } from '../model/naive-lifecycle.ts'
import type { ModelRules } from '../model/rules.ts'
import type { ModelState, ModelVersion } from '../model/state.ts'
import { createBucket, deleteObject, write } from './commands.ts'
import { deliverAll, EventReceiver } from './webhooks/event-receiver.ts'
import type { JournalEntry } from './journal-entries.ts'
import { createRule, DAY, runPass } from './lifecycle.ts'
import { LifecyclePages } from './lifecycle-pages.ts'
import type { Random } from './random.ts'
import { sampleBytes } from './sample-bytes.ts'
import type { TestStore } from './test-store.ts'
import { deleteVersion, setLegalHold, setRetention } from './version-commands.ts'
import { createWebhook } from './webhooks/webhook-commands.ts'

const LOCKED = 'aging-locked'
const PLAIN = 'aging-plain'
const KEYS = ['old/a', 'old/b', 'old/c', 'other'] as const
const COMMANDS_MAXIMUM = 6

/** How a command is sent and accounted for; false when it had no answer. */
type Send = (command: Command) => Promise<boolean>

/** What it needs to send pages: an id for each, and to be told when none of it was done. */
export interface PageSender {
  readonly newRequestId: () => string
  readonly failed: (requestId: string, error: unknown) => void
}

/** Its buckets are its own; nothing in them changes between a pass and the next check. */
export class AgingClient {
  /** It outlives every crash: it is another host. The first requests of each event are refused. */
  readonly receiver = new EventReceiver((request) => request < 3)
  /** Versions and objects that rules removed. */
  removals = 0
  readonly #state: ModelState
  readonly #rules: ModelRules
  readonly #pages = new LifecyclePages()
  /** When a pass ended that nothing disturbed: by then nothing due is left. */
  #passed: number | undefined
  /** Everything up to this entry was delivered. */
  #delivered = 0
  #seed = 0

  constructor(state: ModelState, rules: ModelRules) {
    this.#state = state
    this.#rules = rules
  }

  /** Some commands, then perhaps a pass over the rules, and deliveries. `now`: milliseconds, the store's clock. */
  async run(store: TestStore, random: Random, now: number, send: Send, pages: PageSender): Promise<void> {
    // In the other lives nothing takes the disk from those beside it.
    if (random.below(2) === 0) return
    for (const command of this.#beginning()) if (!(await send(command))) return
    for (let left = random.below(COMMANDS_MAXIMUM); left > 0; left -= 1) {
      const command = this.#commandOf(random, now)
      if (command !== undefined && !(await send(command))) return
    }
    if (random.below(3) > 0) await this.#pass(store, now, pages)
    if (random.below(2) === 0) await this.#deliver(store, now, random.below(2) === 0 ? undefined : 1 + random.below(6))
  }

  /** Takes in what the journal has of pages, and returns what is not as it must be. */
  check(entries: () => readonly JournalEntry[]): string[] {
    const wrong = this.#pages.isEmpty ? [] : this.#pages.settle(entries(), this.#state, this.#rules)
    this.removals += this.#pages.takeRemovals()
    if (this.#passed !== undefined) {
      const left = everythingDue(this.#state, this.#passed)
      wrong.push(...left.map(({ bucket, key }) => `${bucket}/${key} is due and was left by a whole pass`))
      this.#passed = undefined
    }
    return [...wrong, ...this.receiver.strangers(this.#state), ...this.receiver.missing(this.#state, this.#delivered)]
  }

  /** What an earlier life did not come to. */
  #beginning(): Command[] {
    const everything = { bucket: undefined, prefix: undefined, eventTypes: EVENT_TYPES }
    const all: readonly Command[] = [
      { ...createBucket(LOCKED), lockEnabled: true },
      createRule(LOCKED, 'locked', { expirationDays: 1, noncurrentDays: 1 }),
      createWebhook('all', everything),
      createBucket(PLAIN),
      createRule(PLAIN, 'plain', { prefix: 'old/', expirationDays: 1 }),
    ]
    return all.filter((command) => !this.#isDone(command))
  }

  #isDone(command: Command): boolean {
    const { buckets, webhooks } = this.#state
    if (command.kind === 'create-bucket') return buckets.has(command.bucket)
    if (command.kind === 'create-webhook') return webhooks.has(command.webhook)
    return (
      command.kind === 'create-lifecycle-rule' && buckets.get(command.bucket)?.rules.has(command.rule.rule) === true
    )
  }

  #commandOf(random: Random, now: number): Command | undefined {
    const bucket = random.of([LOCKED, PLAIN])
    const key = random.of(KEYS)
    const versions = this.#state.versions(this.#state.buckets.get(bucket), key)
    const version = versions[random.below(Math.max(1, versions.length))]
    const choice = random.below(8)
    if (choice === 0) return deleteObject(bucket, key)
    if (choice < 4 && bucket === LOCKED && version?.isMarker === false) return this.#lock(key, version, choice, now)
    this.#seed += 1
    return write(bucket, key, sampleBytes(100, this.#seed))
  }

  #lock(key: string, version: ModelVersion, choice: number, now: number): Command {
    const sequence = sequenceOf(version.sequence)
    if (choice === 1) return setLegalHold(LOCKED, key, version.lock?.hold !== true, sequence)
    if (choice === 2) return deleteVersion(LOCKED, key, sequence)
    return setRetention(LOCKED, key, { mode: 'GOVERNANCE', untilMilliseconds: now + 2 * DAY }, sequence)
  }

  async #pass(store: TestStore, now: number, { newRequestId, failed }: PageSender): Promise<void> {
    const execute = async (plain: Command): Promise<Done> => {
      const requestId = newRequestId()
      this.#pages.sent(requestId, now)
      try {
        const done = await store.client.execute({ ...plain, audit: { ...plain.audit, requestId } })
        this.#pages.answered(requestId, done.page?.expired ?? 0)
        return done
      } catch (error) {
        failed(requestId, error)
        throw error
      }
    }
    const { client } = store
    const engine: EngineClient = {
      execute,
      record: client.record.bind(client),
      recordFailedChange: client.recordFailedChange.bind(client),
    }
    // A pass that fails goes on with the next one.
    const counts = await runPass(store, { now, engine }).catch(() => undefined)
    if (counts?.failed === 0) this.#passed = now
  }

  async #deliver(store: TestStore, now: number, steps: number | undefined): Promise<void> {
    const { sequence } = store.journal.position
    const isWhole = await deliverAll(store, this.receiver, { now, ...(steps && { steps }) })
    if (isWhole) this.#delivered = sequence
  }
}
