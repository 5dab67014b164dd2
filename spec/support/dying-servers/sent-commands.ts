/** Commands by the id of their request: which have no answer, and which were told that nothing was changed. */
import type { Command } from '../../../engine/commands/commands.ts'
import type { JournalEntry } from '../journal-entries.ts'

/** A command as it was sent. */
export interface Sent {
  readonly requestId: string
  readonly command: Command
  /** Milliseconds, by the clock of the store. */
  readonly now: number
}

/** A command without an answer that has an outcome in the journal. */
export interface Settled extends Sent {
  readonly outcome: JournalEntry
}

export class SentCommands {
  readonly #unanswered = new Map<string, Sent>()
  readonly #refused = new Set<string>()
  #requests = 0

  /** Whether the journal has more to say than the answers did. */
  get isInDoubt(): boolean {
    return this.#unanswered.size > 0 || this.#refused.size > 0
  }

  copy(): SentCommands {
    const copy = new SentCommands()
    copy.#requests = this.#requests
    for (const [requestId, sent] of this.#unanswered) copy.#unanswered.set(requestId, sent)
    for (const requestId of this.#refused) copy.#refused.add(requestId)
    return copy
  }

  newRequestId(): string {
    this.#requests += 1
    return String(this.#requests)
  }

  /** Whether a request with this id was ever sent. */
  wasSent(requestId: string): boolean {
    return /^[1-9]\d*$/.test(requestId) && Number(requestId) <= this.#requests
  }

  /** The command with an id of its own; it has no answer until `answered` or `refused` says so. */
  sending(plain: Command, now: number): Sent {
    const requestId = this.newRequestId()
    const sent = { requestId, command: { ...plain, audit: { ...plain.audit, requestId } }, now }
    this.#unanswered.set(requestId, sent)
    return sent
  }

  answered(requestId: string): void {
    this.#unanswered.delete(requestId)
  }

  /** The engine has failed, and said that nothing was changed. */
  refused(requestId: string): void {
    this.#unanswered.delete(requestId)
    this.#refused.add(requestId)
  }

  /** What the journal says of commands without an answer, and what it says although nothing was changed. */
  settle(entries: readonly JournalEntry[]): { readonly settled: Settled[]; readonly wrong: string[] } {
    const wrong = entries
      .filter(({ requestId }) => requestId !== undefined && this.#refused.has(requestId))
      .map(
        ({ requestId, sequence }) =>
          `request ${requestId} was told that nothing was changed, and has entry ${sequence}`,
      )
    // The first of a request: that of a bypass comes after it.
    const outcomes = new Map(
      entries
        .filter(({ result }) => result !== 'attempted')
        .toReversed()
        .map((entry) => [entry.requestId, entry]),
    )
    const settled = [...this.#unanswered.values()].flatMap((sent) => {
      const outcome = outcomes.get(sent.requestId)
      return outcome === undefined ? [] : [{ ...sent, outcome }]
    })
    this.#unanswered.clear()
    return { settled, wrong }
  }
}
