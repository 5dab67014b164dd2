import type { Command } from '../commands.ts'
import type { Change } from '../events/changes.ts'
import type { StateReader } from '../state-ports.ts'
import { decideCreateBucket, decideDeleteBucket } from './bucket.ts'
import { decideCopyObject, decideDeleteObject, decideWriteObject, type PayloadPlacement } from './object.ts'

/** Commands that change state; the others only put records into the journal. */
export type DecidableCommand = Exclude<
  Command,
  { kind: 'record-attempt' | 'record-failed-change' | 'record-server-event' }
>

/**
 * The rules of the store: which changes a command makes to the state, or why it is refused. Pure but for the place
 * that `placement` hands out; `sequence` is that of the entry that will hold the changes.
 * @throws DomainError
 */
export function decide(
  command: DecidableCommand,
  state: StateReader,
  sequence: number,
  placement: PayloadPlacement,
): Change[] {
  switch (command.kind) {
    case 'create-bucket':
      return decideCreateBucket(command, state, sequence)
    case 'delete-bucket':
      return decideDeleteBucket(command, state)
    case 'write-object':
      return decideWriteObject(command, state, sequence, placement)
    case 'copy-object':
      return decideCopyObject(command, state)
    case 'delete-object':
      return decideDeleteObject(command, state)
  }
}
