/** Pages of lifecycle rules that a worker sent, and what the journal says became of them. */
import { sequenceOf } from '../../engine/brands.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import { everythingDue } from '../model/naive-lifecycle.ts'
import type { ModelRules } from '../model/rules.ts'
import type { ModelState } from '../model/state.ts'
import { deleteObject } from './commands.ts'
import type { JournalEntry } from './journal-entries.ts'

interface SentPage {
  /** Milliseconds, by the clock of the store. */
  readonly now: number
  /** Removals, as the worker was told; undefined without an answer. */
  readonly expired: number | undefined
}

const REMOVAL = /^lifecycle\.expire-/

/** Nothing may go that was not due, and what was acknowledged as gone is in the journal. */
export class LifecyclePages {
  readonly #pages = new Map<string, SentPage>()
  readonly #settled = new Set<string>()
  #removals = 0

  /** Of all pages so far. */
  get requestIds(): string[] {
    return [...this.#settled, ...this.#pages.keys()]
  }

  get isEmpty(): boolean {
    return this.#pages.size === 0
  }

  /** How many removals were taken in since the last call. */
  takeRemovals(): number {
    const removals = this.#removals
    this.#removals = 0
    return removals
  }

  sent(requestId: string, now: number): void {
    this.#pages.set(requestId, { now, expired: undefined })
  }

  answered(requestId: string, expired: number): void {
    const page = this.#pages.get(requestId)
    if (page !== undefined) this.#pages.set(requestId, { ...page, expired })
  }

  /** Takes the removals of all pages into a model, in the order of the journal; returns what is wrong with them. */
  settle(entries: readonly JournalEntry[], state: ModelState, rules: ModelRules): string[] {
    const wrong: string[] = []
    const removed = new Map<string, number>()
    for (const { requestId = '', operation, result, sequence, changes } of entries) {
      const page = this.#pages.get(requestId)
      if (page === undefined || result !== 'success' || !REMOVAL.test(operation)) continue
      removed.set(requestId, (removed.get(requestId) ?? 0) + 1)
      const removal = removalOf(state, changes[0])
      if (removal === undefined) {
        wrong.push(`entry ${sequence} is a removal of nothing`)
        continue
      }
      const { bucket, key, version } = removal
      const isDue = everythingDue(state, page.now).some(
        (due) =>
          due.bucket === bucket &&
          due.key === key &&
          (version === undefined
            ? due.action === 'expiration'
            : due.version === state.find(state.buckets.get(bucket), key, version)),
      )
      if (!isDue) wrong.push(`${bucket}/${key} ${version ?? ''} was removed by entry ${sequence} and was not due`)
      this.#removals += 1
      rules.apply(removal, { sequence, now: page.now, clockIsBehind: false })
    }
    for (const [requestId, { expired }] of this.#pages) {
      const found = removed.get(requestId) ?? 0
      if (expired !== undefined && found !== expired)
        wrong.push(`${requestId} removed ${expired}, and the journal has ${found} of them`)
    }
    for (const requestId of this.#pages.keys()) this.#settled.add(requestId)
    this.#pages.clear()
    return wrong
  }
}

/** The deletion that a removal comes to. */
function removalOf(
  state: ModelState,
  change: JournalEntry['changes'][number] | undefined,
): CommandOf<'delete-object'> | undefined {
  if (change === undefined || !('bucketId' in change) || !('key' in change)) return undefined
  const bucket = [...state.buckets].find(([, { id }]) => id === change.bucketId)?.[0]
  if (bucket === undefined) return undefined
  const removal = deleteObject(bucket, change.key)
  if (change.name !== 'version.deleted') return removal
  const found = state
    .versions(state.buckets.get(bucket), change.key)
    .find(({ sequence }) => sequence === change.version)
  return { ...removal, version: found?.isNull === true ? 'null' : sequenceOf(change.version) }
}
