import { type Microseconds, millisecondsOf, previous, type Sequence } from '../brands.ts'
import { addEntry, addRefusal, addSuccess } from '../records/authenticated-entry.ts'
import { batchHasRoom, bytesForCommands, REQUESTS_PER_BATCH_MAXIMUM } from './batch-room.ts'
import type { Clock } from '../clock.ts'
import type { Command, DecidableCommand } from '../commands/commands.ts'
import { type DeleteObjects, deleteObjects, deletionBytes } from './delete-objects.ts'
import { isDiskFull } from '../disk/disk.ts'
import { decide, isAttempted, type StoreContext, type StoreDecision } from './decide.ts'
import { doneOf } from '../domain/decision.ts'
import { resultOfRefusal } from '../domain/error-table.ts'
import { detailsOf, settingsOf } from '../records/audited-settings.ts'
import type { AccessAuthentication } from '../access/access-authentication.ts'
import type { OpaqueIds } from '../keys/opaque-ids.ts'
import { DomainError, EngineUnavailableError, isRowDamage, OutcomeUnknownError } from '../errors.ts'
import { isAlone, isBehind } from './lone-command.ts'
import { type BatchResult, NOTHING } from './batch-result.ts'
import { ruleHelpers } from './rule-helpers.ts'
import type { AuditContext } from '../events/audit.ts'
import type { ExpirePage } from '../lifecycle/commands.ts'
import { expirePage } from '../lifecycle/expire-page.ts'
import type { BatchBuilder } from '../journal/batch-builder.ts'
import { RECORD_KIND } from '../journal/format.ts'
import type { Journal, RefusedBatch } from '../journal/journal.ts'
import { bypassAudit, namedVersion, withPairs } from '../records/record-context.ts'
import type { SpaceReserve } from '../payloads/space-reserve.ts'
import { VolumeFailedError, type VolumeWriter } from '../payloads/volume-writer.ts'
import type { AppliedPosition } from '../journal/positions.ts'
import { timesOfOne } from '../journal/record-times.ts'
import type { EngineReply, EngineRequest } from './requests.ts'
import type { StateStore, StateTransaction } from '../state-store.ts'

/** The projections could not be committed although the journal was: the state is behind and the process must end. */
export class ProjectionFailedError extends Error {
  override readonly name = 'ProjectionFailedError'
}

/** Changes could not be applied to the rows: the transaction is lost, and with it the batch. */
class ApplyError extends Error {
  override readonly name = 'ApplyError'
}

/**
 * Decides, writes the rows, appends and syncs, and commits the rows, in this order, for one batch of requests at a time.
 * Synchronous inside: while it waits for the disk the next batch gathers outside.
 */
export class Engine {
  readonly #journal: Journal
  readonly #volumes: VolumeWriter
  readonly #state: StateStore
  readonly #clock: Clock
  readonly #reserve: SpaceReserve | undefined
  readonly #versionIds: OpaqueIds
  readonly #access: AccessAuthentication
  readonly #clockToleranceMicroseconds: Microseconds
  readonly #referenceRatioMaximum: number
  readonly #markRefused: (batch: RefusedBatch) => void
  /** A seal that no committed transaction has recorded yet. */
  #seal: AppliedPosition | undefined
  /** The last batch is durable, and was not applied or not answered. */
  #journalIsAhead = false

  constructor(parts: {
    readonly journal: Journal
    readonly volumes: VolumeWriter
    readonly state: StateStore
    readonly clock: Clock
    readonly reserve?: SpaceReserve
    /** For the version ids in audit records. */
    readonly versionIds: OpaqueIds
    /** Authenticates the changes of access. */
    readonly access: AccessAuthentication
    /** How far the clock may be behind the journal; beyond that, retention is not judged. */
    readonly clockToleranceMicroseconds: Microseconds
    /** See `DecisionContext`. */
    readonly referenceRatioMaximum: number
    /** Records durably, outside the journal, that a batch was refused; throws if it fails. */
    readonly markRefused: (batch: RefusedBatch) => void
  }) {
    this.#journal = parts.journal
    this.#volumes = parts.volumes
    this.#state = parts.state
    this.#clock = parts.clock
    this.#reserve = parts.reserve
    this.#versionIds = parts.versionIds
    this.#access = parts.access
    this.#clockToleranceMicroseconds = parts.clockToleranceMicroseconds
    this.#referenceRatioMaximum = parts.referenceRatioMaximum
    this.#markRefused = parts.markRefused
  }

  /**
   * Carries out as many of the first requests as fit one batch. When this returns their entries are durable and visible to
   * every reader.
   * @returns one reply for each request carried out, and the files that can be removed
   * @throws JournalPoisonedError, ProjectionFailedError: the engine must not be used any more
   */
  run(requests: readonly EngineRequest[]): BatchResult {
    this.#reserve?.keepUp()
    try {
      return this.#runBatch(requests)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      // The disk filled up under the small payloads of this batch. None of it is in the journal: decide it again, with
      // every payload refused, so that commands without new space still succeed.
      this.#volumes.refusing = true
      try {
        return this.#runBatch(requests)
      } finally {
        this.#volumes.refusing = false
      }
    }
  }

  /**
   * The error of requests without a reply after `run` has thrown. A batch whose write or sync failed may be on disk all
   * the same. The mark then says that it was refused, and the next start cuts it off (decision 0036).
   */
  failureForWaiters(error: unknown): EngineUnavailableError {
    const reason = error instanceof Error ? error.message : String(error)
    const { refused } = this.#journal
    const isBeforeJournal = refused === undefined && !this.#journalIsAhead
    if (isBeforeJournal) return new EngineUnavailableError(reason, { cause: error })
    if (refused === undefined) {
      const sentence = 'the changes of the last batch are in the journal: they exist after the next start'
      return new OutcomeUnknownError(`${reason}; ${sentence}`, { cause: error })
    }
    const { sequence } = refused.last
    try {
      this.#markRefused(refused)
    } catch (second) {
      const sentence = `HEAD cannot say so (${String(second)}): whether changes after sequence ${sequence} exist is known after the next start`
      return new OutcomeUnknownError(`${reason}; ${sentence}`, { cause: error })
    }
    const sentence = `HEAD says that nothing after sequence ${sequence} was acknowledged; the next start cuts it off`
    return new EngineUnavailableError(`${reason}; ${sentence}`, { cause: error })
  }

  #runBatch(requests: readonly EngineRequest[]): BatchResult {
    this.#journalIsAhead = false
    const batch = this.#begin(requests)
    const firstSequence = batch.nextSequence
    try {
      const result = this.#state.update((state) => {
        const replies = this.#decideAll(requests, batch, state)
        // A page of a lifecycle rule may change nothing, and no batch is without records.
        if (batch.recordCount === 0) return { replies, ...NOTHING }
        // Every row of the batch is written before the journal is: afterwards nothing is left that a row could refuse.
        if (this.#seal !== undefined) state.finish(this.#seal, this.#seal.sequence, [])
        state.finish(this.#journal.positionAfter, firstSequence, batch.takeUses())
        const released = { files: state.releasedFiles, volumes: state.removedVolumes }
        const done = { replies, released, settingsChanged: state.settingsChanged }
        this.#volumes.flush()
        this.#journal.commit()
        this.#journalIsAhead = true
        return done
      })
      if (this.#journalIsAhead) this.#seal = undefined
      return result
    } catch (error) {
      if (this.#journalIsAhead) throw new ProjectionFailedError(String(error), { cause: error })
      this.#volumes.discard()
      this.#journal.abandon()
      throw error
    }
  }

  /** Starts a batch, and remembers a seal that was written before it: replay reads it as a batch of its own. */
  #begin([first]: readonly EngineRequest[]): BatchBuilder {
    const { segmentNumber, segmentFirstSequence, offset } = this.#journal.place
    const batch = this.#journal.begin(
      isAlone(first) &&
        isBehind(this.#clock(), this.#journal.position.orderMicroseconds, this.#clockToleranceMicroseconds),
    )
    if (this.#journal.place.segmentNumber === segmentNumber) return batch
    // Where the seal ends does not matter: the position of this batch overwrites it in the same transaction.
    const sealed = { ...this.#journal.position, ...timesOfOne(this.#journal.position) }
    this.#seal = { ...sealed, segmentNumber, segmentFirstSequence, batchOffset: offset, offset }
    return batch
  }

  #decideAll(requests: readonly EngineRequest[], batch: BatchBuilder, state: StateTransaction): EngineReply[] {
    const bytesMaximum = bytesForCommands(this.#journal)
    const count = Math.min(requests.length, REQUESTS_PER_BATCH_MAXIMUM)
    const replies: EngineReply[] = []
    for (let index = 0; index < count; index += 1) {
      if (index > 0 && !this.#hasRoom(batch, state)) break
      const request = requests[index] as EngineRequest
      if (index > 0 && batch.bytes + deletionBytes(request) > bytesMaximum) break
      if (index > 0 && (isAlone(request) || isAlone(requests[0]))) break
      if (request.kind === 'audit') {
        batch.add(RECORD_KIND.audit, this.#clock(), request.body)
        replies.push(undefined)
      } else {
        replies.push(this.#carryOut(request.command, batch, state))
      }
    }
    return replies
  }

  #hasRoom(batch: BatchBuilder, state: StateTransaction): boolean {
    return batchHasRoom(this.#journal, this.#volumes, batch, state)
  }

  /** Attempt, decision, outcome. The attempt is before the change in the journal, so no change exists without one. */
  #carryOut(command: Command, batch: BatchBuilder, state: StateTransaction): EngineReply {
    const time = this.#clock()
    if (command.kind === 'record-attempt') {
      const sequence = addEntry(batch, time, command.audit, 'attempted', undefined, [])
      return { ok: true, done: { sequence, timeMicroseconds: batch.time } }
    }
    if (command.kind === 'record-failed-change') {
      const sequence = addRefusal(batch, time, command, true)
      return { ok: true, done: { sequence, timeMicroseconds: batch.time } }
    }
    if (command.kind === 'delete-objects') return this.#deleteObjects(command, batch, state)
    if (command.kind === 'expire-page') return this.#expire(command, batch, state)
    if (command.kind === 'record-read') {
      const sequence = addEntry(batch, time, command.audit, command.result, command.intent, [])
      return { ok: true, done: { sequence, timeMicroseconds: batch.time } }
    }
    if (command.kind === 'record-server-event') {
      return this.#succeed(batch, state, time, command.audit, undefined, { changes: command.changes })
    }
    if (!isAttempted(command)) return this.#decideOne(command, batch, state, time)
    const intent = command.intent ?? addEntry(batch, time, this.#named(command), 'attempted', undefined, [])
    const bypass = bypassAudit(command, state, this.#versionIds)
    const bypassIntent = bypass && addEntry(batch, time, bypass, 'attempted', undefined, [])
    const reply = this.#decideOne(command, batch, state, time, intent)
    if (bypass !== undefined) {
      const result = reply.ok ? 'success' : resultOfRefusal(reply.code)
      addEntry(batch, time, bypass, result, bypassIntent, [])
    }
    return reply
  }

  #decideOne(
    command: DecidableCommand,
    batch: BatchBuilder,
    state: StateTransaction,
    time: Microseconds,
    intent?: Sequence,
  ): Exclude<EngineReply, undefined> {
    let { audit } = command
    try {
      audit = withPairs(audit, settingsOf(command, state))
      const decision = decide(command, this.#contextAt(time, batch, state, intent))
      return this.#succeed(batch, state, time, withPairs(audit, detailsOf(decision.changes)), intent, decision)
    } catch (error) {
      return this.#refuse(this.#named({ ...command, audit }), batch, time, intent, error)
    }
  }

  #contextAt(time: Microseconds, batch: BatchBuilder, state: StateTransaction, attempt?: Sequence): StoreContext {
    const latest = Math.max(time, batch.order)
    return {
      state,
      sequence: batch.nextSequence,
      ...(attempt !== undefined && { attempt }),
      placement: this.#volumes,
      ...state.features,
      ...ruleHelpers,
      referenceRatioMaximum: this.#referenceRatioMaximum,
      now: millisecondsOf(Math.floor(latest / 1000)),
      host: time,
      last: batch.timesOfLast,
      clockIsBehind: isBehind(time, latest, this.#clockToleranceMicroseconds),
    }
  }

  /** Each key is deleted as by a request, with its own records. */
  #deleteObjects(command: DeleteObjects, batch: BatchBuilder, state: StateTransaction): EngineReply {
    const deletions = deleteObjects(command, {
      remove: (deletion) => this.#carryOut(deletion, batch, state),
      refuse: (audit, refusal) => addRefusal(batch, this.#clock(), { audit, ...refusal }, refusal.isAuthorized),
      hasRoom: () => this.#hasRoom(batch, state),
    })
    return { ok: true, done: { sequence: previous(batch.nextSequence), timeMicroseconds: batch.time, deletions } }
  }

  /** Each removal of a page is a deletion as by a request, with its own records. */
  #expire(command: ExpirePage, batch: BatchBuilder, state: StateTransaction): Exclude<EngineReply, undefined> {
    try {
      const page = expirePage(command, state, state.features.lifecycle, {
        context: () => this.#contextAt(this.#clock(), batch, state),
        remove: (removal) => this.#carryOut(removal, batch, state)?.ok === true,
        note: (audit, decision) => this.#note(batch, state, audit, decision),
        hasRoom: () => this.#hasRoom(batch, state),
      })
      return { ok: true, done: { sequence: previous(batch.nextSequence), timeMicroseconds: batch.time, page } }
    } catch (error) {
      // What was removed before stays removed, and the rule has come no further.
      if (isRowDamage(error)) return { ok: false, code: error.code, subject: error.subject }
      throw error
    }
  }

  /** Records something of a worker's own; false when that cannot be written, which is then recorded in its place. */
  #note(batch: BatchBuilder, state: StateTransaction, audit: AuditContext, decision: StoreDecision): boolean {
    const time = this.#clock()
    try {
      return this.#succeed(batch, state, time, audit, undefined, decision).ok
    } catch (error) {
      return this.#refuse(namedVersion(audit, decision.version, this.#versionIds), batch, time, undefined, error).ok
    }
  }

  /**
   * Records a refusal by the rules, or a fault while the command was decided: no change was applied, so only this
   * command fails. A failure while changes are applied, or of the disk, is rethrown and ends the engine.
   */
  #refuse(
    named: AuditContext,
    batch: BatchBuilder,
    time: Microseconds,
    intent: Sequence | undefined,
    error: unknown,
  ): Exclude<EngineReply, undefined> {
    if (error instanceof ApplyError || error instanceof VolumeFailedError || isDiskFull(error)) throw error
    const known = error instanceof DomainError ? error : new DomainError('command-failed', String(error))
    const audit = { ...named, metadata: [...named.metadata, 'error', known.code] }
    addEntry(batch, time, audit, resultOfRefusal(known.code), intent, [])
    return { ok: false, code: known.code, subject: known.subject }
  }

  #succeed(
    batch: BatchBuilder,
    state: StateTransaction,
    time: Microseconds,
    audit: AuditContext,
    intent: Sequence | undefined,
    decision: StoreDecision,
  ): Exclude<EngineReply, undefined> {
    const { changes: decided, version } = decision
    const sequence = batch.nextSequence
    const named = namedVersion(audit, version, this.#versionIds)
    const [first] = decided
    if (first?.name === 'clock.set-back') batch.goBack(first.to)
    const changes = addSuccess(batch, this.#access, state, { time, audit: named, intent, changes: decided })
    try {
      state.apply(sequence, batch.timesOfLast, changes)
    } catch (error) {
      throw new ApplyError(`the changes of ${sequence} cannot be applied: ${String(error)}`, { cause: error })
    }
    return { ok: true, done: doneOf(decision, sequence, batch.time) }
  }

  #named(command: DecidableCommand): AuditContext {
    return namedVersion(command.audit, 'version' in command ? command.version : undefined, this.#versionIds)
  }
}
