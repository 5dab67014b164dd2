import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { Sequence } from '../../engine/brands.ts'
import type { ReplayState, WebhooksState, WebhookState } from '../../engine/webhooks/state.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import type { WebhookChange } from '../../engine/webhooks/change-types.ts'
import type { EventPlace } from '../../engine/events/values.ts'
import { putAccessVersion, type accessTables } from '../access/tables.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import type { NamedTables } from '../tables/named-tables.ts'
import {
  type DeliveryLine,
  lineAfter,
  type LoggedDelivery,
  type PendingDelivery,
  progressRows,
  putLogged,
  removeLog,
  webhookRows,
  type WebhookProgress,
  type webhookTables,
} from './tables.ts'

/** Changes of the configuration of webhooks; the others are about deliveries. */
const SET_UP: ReadonlySet<WebhookChange['name']> = new Set([
  'webhook.created',
  'webhook.status-set',
  'webhook.deleted',
  'webhook.secret-rotated',
])

type RowTables = NamedTables<typeof webhookTables & Pick<typeof accessTables, 'accessVersion'>>

/** Applies changes to webhooks and their deliveries. */
export class WebhookRows implements WebhooksState, FeatureRows<WebhookChange> {
  readonly #tables: RowTables

  constructor(tables: RowTables) {
    this.#tables = tables
  }

  get webhookCount(): number {
    return this.#tables.webhooks.count()
  }

  webhook(webhook: string): WebhookState | undefined {
    return webhookRows.get(this.#tables.webhooks, webhook)
  }

  replayOf(webhook: string): ReplayState | undefined {
    return progressRows.get(this.#tables.webhookProgress, webhook)?.replay
  }

  apply(sequence: Sequence, { timeMicroseconds: time }: RecordTimes, change: WebhookChange): void {
    if (SET_UP.has(change.name)) putAccessVersion(this.#tables.accessVersion, sequence)
    switch (change.name) {
      case 'webhook.created': {
        const { name: _, ...state } = change
        this.#put({ ...state, createdMicroseconds: time, startSequence: sequence, previousSecret: undefined })
        return this.#putProgress({
          webhook: change.webhook,
          line: lineAfter(sequence),
          replay: undefined,
          logged: 0,
        })
      }
      case 'webhook.status-set':
        return this.#statusSet(sequence, change)
      case 'webhook.deleted': {
        const { logged } = this.#progress(change.webhook)
        removeLog(this.#tables.webhookLog, change.webhook, logged)
        this.#tables.webhookProgress.remove(Buffer.from(change.webhook))
        return this.#tables.webhooks.remove(Buffer.from(change.webhook))
      }
      case 'webhook.secret-rotated': {
        const { webhook, sealedSecret, previousUntilMicroseconds: untilMicroseconds } = change
        const before = this.#require(webhook)
        const previousSecret = { sealedSecret: before.sealedSecret, untilMicroseconds }
        return this.#put({ ...before, sealedSecret, previousSecret })
      }
      case 'webhook.replayed': {
        const { webhook, sinceMicroseconds, untilMicroseconds } = change
        const range = { replay: sequence, sinceMicroseconds, untilMicroseconds }
        const replay = { position: undefined, pending: [], ...range }
        return this.#putProgress({ ...this.#progress(webhook), replay })
      }
      case 'webhook.delivered':
        return this.#delivered(change)
      case 'webhook.attempted':
        return this.#putProgress(this.#logged(this.#progress(change.webhook), loggedRows(change)))
      case 'webhook.tested': {
        const { webhook, event, timeMicroseconds, status, error } = change
        const test = { kind: 'test', event: undefined, testEvent: event, attempt: 1 } as const
        const row = { ...test, timeMicroseconds, status, error, nextMicroseconds: undefined }
        return this.#putProgress(this.#logged(this.#progress(webhook), [row]))
      }
    }
  }

  #statusSet(sequence: Sequence, { webhook, enabled }: ChangeNamed<'webhook.status-set'>): void {
    const before = this.#require(webhook)
    this.#put({ ...before, enabled, startSequence: enabled ? sequence : before.startSequence })
    this.#putProgress({ ...this.#progress(webhook), line: lineAfter(sequence), replay: undefined })
  }

  #delivered(change: ChangeNamed<'webhook.delivered'>): void {
    const { webhook, replay: number, isOver } = change
    const before = this.#progress(webhook)
    const logged = this.#logged(before, loggedRows(change))
    if (number === undefined) return this.#putProgress({ ...logged, line: lineAfterPass(before.line, change) })
    const { replay } = before
    if (replay === undefined) throw new Error(`a replay of webhook ${webhook} goes on but is not there`)
    this.#putProgress({ ...logged, replay: isOver ? undefined : { ...replay, ...lineAfterPass(replay, change) } })
  }

  #logged(progress: WebhookProgress, rows: readonly LoggedDelivery[]): WebhookProgress {
    rows.forEach((row, index) => putLogged(this.#tables.webhookLog, progress.webhook, progress.logged + index, row))
    return { ...progress, logged: progress.logged + rows.length }
  }

  #put(state: WebhookState): void {
    webhookRows.put(this.#tables.webhooks, state)
  }

  #putProgress(progress: WebhookProgress): void {
    progressRows.put(this.#tables.webhookProgress, progress)
  }

  #require(webhook: string): WebhookState {
    const found = webhookRows.get(this.#tables.webhooks, webhook)
    if (found === undefined) throw new Error(`webhook ${webhook} is changed but not there`)
    return found
  }

  #progress(webhook: string): WebhookProgress {
    const found = progressRows.get(this.#tables.webhookProgress, webhook)
    if (found === undefined) throw new Error(`webhook ${webhook} has no progress`)
    return found
  }
}

function loggedRows({
  replay,
  attempts,
}: ChangeNamed<'webhook.delivered' | 'webhook.attempted'>): readonly LoggedDelivery[] {
  const kind = replay === undefined ? 'event' : 'replay'
  return attempts.map(({ event, ...attempt }) => ({ kind, event, testEvent: undefined, ...attempt }) as const)
}

function nameOf({ sequence, index }: EventPlace): string {
  return `${sequence} ${index}`
}

function lineAfterPass(
  before: DeliveryLine,
  { position, waiting, attempts }: ChangeNamed<'webhook.delivered'>,
): DeliveryLine {
  const pending = new Map(before.pending.map((one): [string, PendingDelivery] => [nameOf(one.event), one]))
  for (const event of waiting) pending.set(nameOf(event), { event, attempts: 0, nextMicroseconds: undefined })
  for (const { event, attempt, nextMicroseconds } of attempts) {
    if (nextMicroseconds === undefined) pending.delete(nameOf(event))
    else pending.set(nameOf(event), { event, attempts: attempt, nextMicroseconds })
  }
  return { position, pending: [...pending.values()] }
}
