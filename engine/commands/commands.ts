/** Every command to the engine. */
import type { Sequence } from '../brands.ts'
import type { AuditContext, Pairs } from '../events/audit.ts'
import type { ChangeNamed } from '../events/changes.ts'
import type { FeatureRules } from '../features.ts'
import type { ExpirePage } from '../lifecycle/commands.ts'
import type { SpineCommand, SpineCommands, WriteCondition } from './spine-commands.ts'
import type { VersionSelector } from './version-name.ts'

type DecidedBy<Rule> = Rule extends (command: infer Sent, context: never) => unknown ? Sent : never

/** By kind: the commands of the spine, and those that the rules of features decide. */
type DecidableCommands = { readonly [K in keyof SpineCommands]: SpineCommand<K> } & {
  readonly [K in keyof FeatureRules]: DecidedBy<FeatureRules[K]>
}

/** A command of one kind. */
export type CommandOf<K extends keyof DecidableCommands> = DecidableCommands[K]

/** Commands that change state; the others only put records into the journal. */
export type DecidableCommand = CommandOf<keyof DecidableCommands>

/** The attempt of a long operation, before it starts. */
interface RecordAttempt {
  readonly kind: 'record-attempt'
  readonly audit: AuditContext
}

/**
 * A read whose records must be durable, such as an export of the audit log: `attempted` before any of its answer is sent, and its
 * outcome, with the sequence of that record, before the last of it.
 */
interface RecordRead {
  readonly kind: 'record-read'
  readonly audit: AuditContext
  readonly result: 'attempted' | 'success'
  /** Sequence of the attempt that this is the outcome of. */
  readonly intent?: Sequence
}

/** A change that was authorized and failed before it reached the engine: its attempt and its outcome. */
interface RecordFailedChange {
  readonly kind: 'record-failed-change'
  readonly audit: AuditContext
  readonly result: 'denied' | 'failure'
  /** Further metadata of the outcome; the attempt does not have it. */
  readonly details?: Pairs
}

/** One key of a batch of deletions. */
export interface Deletion {
  readonly key: string
  /** As in `delete-object`. */
  readonly version?: VersionSelector
  readonly condition: WriteCondition
  /** Metadata appended to the command's own in the records of this key. */
  readonly metadata: Pairs
  /** The sender has refused it, and nothing is deleted: only the records are made that it would have alone. */
  readonly refusal?: DeletionRefusal
}

/** How the sender of a batch refused one key of it. */
export interface DeletionRefusal {
  readonly result: 'denied' | 'failure'
  /** Further metadata of the outcome. */
  readonly details: Pairs
  /** Whether it was authorized, and so has an attempt. */
  readonly isAuthorized: boolean
}

/**
 * Deletions of several keys of one bucket, in their order. Each is a `delete-object` of its own, judged and recorded as
 * if it had come alone. They are in one batch of the journal as far as it holds them; the rest is not carried out.
 */
interface DeleteObjects {
  readonly kind: 'delete-objects'
  /** Principal of the deletions; the resource is each key. */
  readonly audit: AuditContext
  readonly bucket: string
  /** As in `delete-object`, for every key. */
  readonly bypassGovernance: boolean
  /** At least one. */
  readonly deletions: readonly Deletion[]
}

/** Events of the server itself. They have no attempt, since no client asked for them. */
interface RecordServerEvent {
  readonly kind: 'record-server-event'
  readonly audit: AuditContext
  readonly changes: readonly ChangeNamed<
    | 'journal.recovered'
    | 'journal.restored'
    | 'server.started'
    | 'server.stopped'
    | 'clock.observed'
    | 'master-key.changed'
    | 'checkpoint.key-rotated'
  >[]
}

export type Command =
  | DecidableCommand
  | RecordAttempt
  | RecordRead
  | RecordFailedChange
  | RecordServerEvent
  | ExpirePage
  | DeleteObjects
