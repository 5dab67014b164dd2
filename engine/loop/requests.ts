import type { Command } from '../commands/commands.ts'
import type { Done } from '../commands/done.ts'
import type { DomainErrorCode } from '../domain/error-table.ts'

/** A request to put something into the journal. */
export type EngineRequest =
  | { readonly kind: 'command'; readonly command: Command }
  /** The body of an audit record, encoded by the front end: a read, a denial. */
  | { readonly kind: 'audit'; readonly body: Uint8Array }

/** The result of a request; `undefined` for audit records, which have no reply. */
export type EngineReply =
  | { readonly ok: true; readonly done: Done }
  | { readonly ok: false; readonly code: DomainErrorCode; readonly subject: string | undefined }
  | undefined
