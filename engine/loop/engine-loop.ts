import type { Command } from '../commands/commands.ts'
import type { Engine } from './engine.ts'
import type { ReleasedFiles } from './batch-result.ts'
import { EngineUnavailableError } from '../errors.ts'
import type { RoomFor } from '../journal/journal-room.ts'
import type { EngineReply, EngineRequest } from './requests.ts'
import type { StrangerRecord, StrangerRecords } from '../records/stranger-records.ts'

/** How long audit records of reads may wait to share the sync of a change; no request waits for them. */
const AUDIT_LINGER_MILLISECONDS = 10
/** Records of strangers wait longer: requests without credentials must not cause a sync each. */
const STRANGER_LINGER_MILLISECONDS = 500
/** More waiting audit records than this are written at once. */
const AUDIT_WAITING_MAXIMUM = 2048

/** Called once: with the reply, or with the requester's error after the failure that made the engine unusable. */
type Settle = (reply: EngineReply, failure?: EngineUnavailableError) => void

interface Waiting {
  readonly request: EngineRequest
  readonly settle: Settle | undefined
}

interface LoopHooks {
  /** Files without a reference, after the commit. */
  readonly onReleased: (released: ReleasedFiles) => void
  /** Called once, when the engine has become unusable. `forWaiters` is the error for its waiting callers. */
  readonly onFailure: (error: unknown, forWaiters: EngineUnavailableError) => void
  /** After every batch and its replies. */
  readonly onBatchDone: () => void
  /** Returns what the journal has room for; asked before every batch. */
  readonly roomFor: () => RoomFor
  /** It has room for something else than before. */
  readonly onRoomChanged?: (roomFor: RoomFor) => void
  /** A bucket or access has changed; called after the commit and before any reply. */
  readonly onSettingsChanged?: () => void
}

/**
 * Gathers requests and runs them batch by batch: the requests that arrived while the engine was busy are the next batch.
 * No timer delays a change.
 */
export class EngineLoop {
  readonly #engine: Engine
  readonly #strangers: StrangerRecords
  readonly #hooks: LoopHooks
  #waiting: Waiting[] = []
  /** When the next batch runs: at this time, of `performance.now()`, at the latest. */
  #dueAt = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #summaryTimer: NodeJS.Timeout | undefined
  #failure: EngineUnavailableError | undefined
  #idle: (() => void)[] = []
  #roomFor: RoomFor = 'everything'
  #refusedTotal = 0
  /** Bodies of audit records that came too late for the journal, although their requests are answered. */
  #unrecorded: Uint8Array[] = []

  constructor(engine: Engine, strangers: StrangerRecords, hooks: LoopHooks) {
    this.#engine = engine
    this.#strangers = strangers
    this.#hooks = hooks
  }

  /** Room in the journal when last asked. */
  get roomFor(): RoomFor {
    return this.#roomFor
  }

  /** Updates what the journal has room for. Called now and then, since space may come back without a request. */
  checkRoom(): void {
    const roomFor = this.#hooks.roomFor()
    if (roomFor === this.#roomFor) return
    this.#roomFor = roomFor
    this.#hooks.onRoomChanged?.(roomFor)
    if (this.#waiting.length > 0) this.#runSoon()
  }

  /** Changes refused because the journal had no room, since the start. */
  get refusedTotal(): number {
    return this.#refusedTotal
  }

  /** Requests that wait for their batch. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Why nothing is taken any more, if so. */
  get failure(): EngineUnavailableError | undefined {
    return this.#failure
  }

  /**
   * Takes a request into one of the next batches. After a failure nothing is done, and `settle` gets the error at once.
   */
  submit(request: EngineRequest, settle?: Settle): void {
    if (this.#failure !== undefined) {
      this.#keep(request)
      settle?.(undefined, new EngineUnavailableError(this.#failure.message, { cause: this.#failure }))
      return
    }
    this.#waiting.push({ request, settle })
    if (request.kind === 'command' || this.#waiting.length > AUDIT_WAITING_MAXIMUM) this.#runSoon()
    else this.#runWithin(AUDIT_LINGER_MILLISECONDS)
  }

  /**
   * Takes the record of a request without valid credentials, to be written or counted. `settle` is called once; at once
   * if it is counted.
   * @returns whether it was counted
   */
  submitStranger(record: StrangerRecord, settle?: () => void): boolean {
    if (this.#failure === undefined && this.#strangers.admits(record)) {
      this.#waiting.push({ request: { kind: 'audit', body: record.body }, settle })
      this.#runWithin(STRANGER_LINGER_MILLISECONDS)
      return false
    }
    settle?.()
    if (this.#failure === undefined) this.#summaryTimer ??= this.#summariesLater()
    return true
  }

  #summariesLater(): NodeJS.Timeout {
    return setTimeout(() => this.#submitSummaries(), this.#strangers.intervalMilliseconds).unref()
  }

  #submitSummaries(): void {
    clearTimeout(this.#summaryTimer)
    this.#summaryTimer = undefined
    for (const body of this.#strangers.takeSummaries()) this.submit({ kind: 'audit', body })
  }

  /** Resolves when no request waits, and the counts of strangers are written. */
  drained(): Promise<void> {
    this.#submitSummaries()
    if (this.#waiting.length === 0) return Promise.resolve()
    this.#runSoon()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Nothing runs from now on: requests that wait or arrive fail because the engine is closed. */
  close(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#summaryTimer)
    this.#end(new EngineUnavailableError('the engine is closed'))
  }

  /** Another part that the engine needs has failed: waiting requests are refused, and nothing runs from now on. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return
    const forWaiters = new EngineUnavailableError(error.message, { cause: error })
    this.#end(forWaiters)
    this.#hooks.onFailure(error, forWaiters)
  }

  #runSoon(): void {
    if (this.#dueAt === Number.NEGATIVE_INFINITY) return
    clearTimeout(this.#timer)
    this.#dueAt = Number.NEGATIVE_INFINITY
    setImmediate(() => this.#run())
  }

  #runWithin(milliseconds: number): void {
    const dueAt = performance.now() + milliseconds
    if (this.#dueAt <= dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = dueAt
    this.#timer = setTimeout(() => this.#run(), milliseconds)
  }

  #run(): void {
    this.#dueAt = Number.POSITIVE_INFINITY
    this.checkRoom()
    this.#refuseWithoutRoom()
    // Records of answered requests are kept until there is room for them.
    const held = this.#roomFor === 'nothing' ? this.#waiting.filter(({ request }) => request.kind === 'audit') : []
    const waiting = held.length === 0 ? this.#waiting : this.#waiting.filter(({ request }) => request.kind !== 'audit')
    if (waiting.length > 0 && this.#failure === undefined) {
      try {
        const { replies, released, settingsChanged } = this.#engine.run(waiting.map((one) => one.request))
        this.#waiting = [...held, ...waiting.slice(replies.length)]
        // Before any reply: a request after the reply must see the change.
        if (settingsChanged) this.#hooks.onSettingsChanged?.()
        replies.forEach((reply, index) => waiting[index]?.settle?.(reply))
        if (released.files.length > 0 || released.volumes.length > 0) this.#hooks.onReleased(released)
      } catch (error) {
        const forWaiters = this.#engine.failureForWaiters(error)
        this.#end(forWaiters)
        this.#hooks.onFailure(error, forWaiters)
      }
      this.#hooks.onBatchDone()
    }
    if (this.#waiting.length > held.length) this.#runSoon()
    else for (const resolve of this.#idle.splice(0)) resolve()
  }

  /**
   * Refuses the commands that the journal has no room for. The store's own entries, such as the entry of its stop, are
   * few.
   */
  #refuseWithoutRoom(): void {
    if (this.#roomFor === 'everything' || this.#failure !== undefined) return
    const refused = this.#waiting.filter(({ request }) => request.kind === 'command' && !this.#fits(request.command))
    if (refused.length === 0) return
    this.#waiting = this.#waiting.filter((one) => !refused.includes(one))
    this.#refusedTotal += refused.length
    for (const { settle } of refused) settle?.({ ok: false, code: 'journal-full', subject: undefined })
    this.#hooks.onBatchDone()
  }

  /** A read that was begun gets its outcome while there is room for changes. */
  #fits(command: Command): boolean {
    if (command.kind === 'record-server-event') return true
    // A new segment needs space.
    if (command.kind === 'set-clock-back') return false
    const isNewRead = command.kind === 'record-read' && command.intent === undefined
    return this.#roomFor === 'changes' && !isNewRead
  }

  #end(forWaiters: EngineUnavailableError): void {
    this.#failure ??= forWaiters
    for (const { request, settle } of this.#waiting.splice(0)) {
      this.#keep(request)
      settle?.(undefined, forWaiters)
    }
  }

  #keep(request: EngineRequest): void {
    if (request.kind === 'audit') this.#unrecorded.push(Uint8Array.from(request.body))
  }

  /** Bodies of audit records that were not written since the failure, each once. */
  takeUnrecorded(): Uint8Array[] {
    return this.#unrecorded.splice(0)
  }
}
