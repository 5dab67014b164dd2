/** What the clients of a store were told, and what the store must hold by that. */
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import type { Done } from '../../../engine/commands/done.ts'
import { DomainError, EngineUnavailableError, OutcomeUnknownError } from '../../../engine/errors.ts'
import { md5Of } from '../commands.ts'
import { journalEntries } from '../journal-entries.ts'
import { differences } from '../model/model-differences.ts'
import { LifecyclePages } from '../lifecycle-pages.ts'
import { ModelRules } from '../../model/rules.ts'
import { ModelState } from '../../model/state.ts'
import { SentCommands } from './sent-commands.ts'
import { storeFile, type TestStore } from '../test-store.ts'

/** A command that was carried out, as entry `sequence`. */
interface Carried {
  readonly requestId: string
  readonly command: Command
  readonly sequence: number
  readonly now: number
}

/**
 * Sends commands and keeps account: what was acknowledged must be there, and its entry in the journal; what was refused
 * must not, nor anything of what failed because the engine had; of a command without an answer the journal says whether it was carried out, and then all of it must be there.
 */
export class ClientLedger {
  readonly state = new ModelState()
  acknowledged = 0
  /** Commands of which the store could not say whether they will exist. */
  unknown = 0
  readonly #carried: Carried[] = []
  readonly #inFiles: Map<string, Buffer>
  readonly #rules: ModelRules
  /** Milliseconds, what the clock of the store says. */
  now: number
  #sent = new SentCommands()
  readonly #pages = new LifecyclePages()

  constructor(now: number, inFiles: ReadonlyMap<string, Buffer> = new Map()) {
    this.now = now
    this.#inFiles = new Map(inFiles)
    this.#rules = new ModelRules(this.state, this.#inFiles)
  }

  /** Another ledger that has gone through the same and goes on by itself. */
  copy(): ClientLedger {
    const copy = new ClientLedger(this.now, this.#inFiles)
    for (const carried of this.#carried) copy.#apply(carried)
    copy.#sent = this.#sent.copy()
    return copy
  }

  /**
   * Has a command carried out.
   * @throws DomainError when it was refused, EngineUnavailableError when the engine has failed
   */
  async send(client: EngineClient, plain: Command): Promise<Done> {
    const { requestId, command } = this.#sent.sending(plain, this.now)
    if (command.kind === 'expire-page') {
      this.#sent.answered(requestId)
      this.#pages.sent(requestId, this.now)
    }
    try {
      const done = await client.execute(command)
      this.acknowledged += 1
      this.#sent.answered(requestId)
      if (command.kind === 'expire-page') this.#pages.answered(requestId, done.page?.expired ?? 0)
      else this.#apply({ requestId, command, sequence: done.sequence, now: this.now })
      return done
    } catch (error) {
      if (error instanceof DomainError) this.#sent.answered(requestId)
      if (error instanceof OutcomeUnknownError) this.unknown += 1
      else if (error instanceof EngineUnavailableError) this.#sent.refused(requestId)
      throw error
    }
  }

  /** An engine for the store's own workers, whose commands are accounted for as well. */
  accounting(client: EngineClient): EngineClient {
    return {
      execute: (command) => this.send(client, command),
      record: client.record.bind(client),
      recordFailedChange: client.recordFailedChange.bind(client),
    }
  }

  /** Puts bytes into a payload file; returns its name. */
  storeFile(store: TestStore, bytes: Buffer): Promise<string> {
    this.#inFiles.set(md5Of(bytes), bytes)
    return storeFile(store, bytes)
  }

  /** Takes in what the journal tells of commands without an answer, and returns what is not as it must be. */
  async check(store: TestStore): Promise<string[]> {
    const outcomes = new Map<string, number>()
    const entries = journalEntries(store.paths.root, store.disk)
    for (const { requestId, sequence, result } of entries) {
      if (requestId !== undefined && result === 'success') outcomes.set(requestId, sequence)
    }
    const { settled, wrong: refused } = this.#sent.settle(entries)
    const wrong = this.#carried.flatMap(({ requestId, sequence }) =>
      outcomes.get(requestId) === sequence ? [] : [`${requestId} was acknowledged, and has no entry ${sequence}`],
    )
    for (const { requestId, command, outcome } of settled) {
      if (outcome.result === 'success') this.#apply({ requestId, command, sequence: outcome.sequence, now: this.now })
    }
    const known = new Set([...this.#carried.map(({ requestId }) => requestId), ...this.#pages.requestIds])
    wrong.push(...this.#pages.settle(entries, this.state, this.#rules))
    for (const requestId of outcomes.keys()) if (!known.has(requestId)) wrong.push(`nobody requested ${requestId}`)
    return [...refused, ...wrong, ...(await differences(store, this.state))]
  }

  #apply(carried: Carried): void {
    this.#carried.push(carried)
    const { command, sequence, now } = carried
    this.#rules.apply(command, { sequence, now, clockIsBehind: false })
  }
}
