/** What a store must answer and hold, kept beside it in memory. */
import type { Done } from '../../../engine/commands/done.ts'
import { ModelCommands } from './model-commands.ts'
import type { Outcome } from '../../model/refusals.ts'
import { ModelRules } from '../../model/rules.ts'
import { ModelState } from '../../model/state.ts'
import type { Group } from './step-recipes.ts'
import type { TestStore } from '../test-store.ts'

/** Of the stores that specs open. */
export const TOLERANCE_MILLISECONDS = 5000
/** Later than the host's clock, by which a journal begins and seals its segments. */
const BEGINNING = Date.parse('2126-01-02T03:04:05Z')

export class StoreModel {
  readonly state = new ModelState()
  /** For the store: the clock that the model goes by. Microseconds. */
  readonly clock = (): number => this.#clock
  readonly #inFiles = new Map<string, Buffer>()
  readonly #commands = new ModelCommands(this.state, this.#inFiles)
  readonly #rules = new ModelRules(this.state, this.#inFiles)
  #clock = BEGINNING * 1000
  /** The latest time that the journal has seen. */
  #latest = this.#clock

  /** The time by which retention is judged; milliseconds. */
  get now(): number {
    return Math.floor(Math.max(this.#clock, this.#latest) / 1000)
  }

  get clockIsBehind(): boolean {
    return this.#clock < this.#latest - TOLERANCE_MILLISECONDS * 1000
  }

  setClock(milliseconds: number): void {
    this.#clock = milliseconds * 1000
    this.#latest = Math.max(this.#latest, this.#clock)
  }

  /** Carries a group out on a store and here, and returns what differs in the replies. */
  async run(store: TestStore, { clockMilliseconds, steps }: Group): Promise<string[]> {
    this.setClock(this.#clock / 1000 + clockMilliseconds)
    const milliseconds = this.#clock / 1000
    const commands = await Promise.all(steps.map((step) => this.#commands.commandOf(store, step, milliseconds)))
    const replies = await Promise.all(commands.map((command) => store.client.execute(command).then(told, refused)))
    return replies.flatMap(({ sequence, ...outcome }, index) => {
      const command = commands[index]
      if (command === undefined) return []
      const moment = { sequence, now: this.now, clockIsBehind: this.clockIsBehind }
      const expected = this.#rules.apply(command, moment)
      if (expected === undefined || isSame(outcome, expected)) return []
      const texts = [steps[index], outcome, expected].map((one) => JSON.stringify(one))
      return [`${texts[0]}: ${texts[1]} instead of ${texts[2]}`]
    })
  }
}

interface Reply extends Outcome {
  readonly sequence: number
}

function told({ sequence, etag, version, marker }: Done): Reply {
  return {
    code: 'done',
    sequence,
    ...(etag === undefined ? {} : { etag }),
    ...(version === undefined ? {} : { version }),
    ...(marker === undefined ? {} : { marker }),
  }
}

function refused(error: { readonly code?: string; readonly message: string; readonly subject?: string }): Reply {
  return {
    code: error.code ?? error.message,
    sequence: 0,
    ...(error.subject === undefined ? {} : { subject: error.subject }),
  }
}

/** The subject counts where the model names one. */
function isSame(outcome: Outcome, expected: Outcome): boolean {
  const { code, etag, version, marker, subject } = expected
  if (subject !== undefined && outcome.subject !== subject) return false
  return outcome.code === code && outcome.etag === etag && outcome.version === version && outcome.marker === marker
}
