import type { Microseconds, Sequence } from '../../engine/brands.ts'
import { sequenceOf } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import { originText, signature64 } from '../../engine/events/names.ts'
import { digest, integer, microseconds } from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import type { CheckpointState, HandoverState } from '../../engine/checkpoints/state.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { Row, Table, TableReader } from '../lmdb-environment.ts'
import { packed } from '../tables/row-codecs.ts'

/** The names of its tables. */
export const checkpointTables = {
  checkpoints: 'checkpoints',
  checkpointMarks: 'checkpoint-marks',
  checkpointsUnpublished: 'checkpoints-unpublished',
  checkpointHandovers: 'checkpoint-handovers',
  receipts: 'receipts',
  witnessedLogs: 'witnessed-logs',
} as const

/**
 * `checkpoints`: sequence of the entry (8) to its fields, and time. `restores`: sequence of an entry to nothing.
 * `checkpoints-unpublished`: size (8) to nothing.
 */
const { encode, decode } = packed(
  record('checkpoint', {
    timeMicroseconds: field(microseconds, 'time'),
    size: field(integer, 'size'),
    root: field(digest, 'root'),
    bundleRoot: field(digest, 'bundle root'),
    previous: field(digest, 'previous'),
    origin: field(originText, 'origin'),
    publicKey: field(digest, 'public key'),
    signature: field(signature64, 'signature'),
  }),
)

/** `checkpoint-handovers`: sequence of the entry (8) to its fields. */
const handovers = packed(
  record('hand-over', {
    origin: field(originText, 'origin'),
    generation: field(integer, 'generation'),
    oldKey: field(digest, 'old public key'),
    newKey: field(digest, 'new public key'),
    size: field(integer, 'size'),
    root: field(digest, 'root'),
    oldSignature: field(signature64, 'signature by the old key'),
    newSignature: field(signature64, 'signature by the new key'),
  }),
)

export function putCheckpoint(
  table: Table,
  sequence: Sequence,
  timeMicroseconds: Microseconds,
  change: ChangeNamed<'checkpoint.signed'>,
): void {
  table.put(numberKey(sequence), encode({ timeMicroseconds, ...change }))
}

export function getLastCheckpoint(table: TableReader): CheckpointState | undefined {
  const [last] = table.rows({ reverse: true, limit: 1 })
  return last && stateOf(last)
}

/** The newest that holds. */
export function newestCheckpoint(
  table: TableReader,
  holds: (checkpoint: CheckpointState) => boolean,
): CheckpointState | undefined {
  for (const row of table.rows({ reverse: true })) {
    const checkpoint = stateOf(row)
    if (holds(checkpoint)) return checkpoint
  }
  return undefined
}

/** Checkpoints by their entries, from a sequence on. */
export function checkpointsFrom(table: TableReader, first: number, limit: number): CheckpointState[] {
  return Array.from(table.rows({ start: numberKey(first), limit }), stateOf)
}

/** The checkpoint of this size. Each covers the entry of the one before, so it is the first whose entry is not covered. */
export function getCheckpointOfSize(table: TableReader, size: number): CheckpointState | undefined {
  const [found] = checkpointsFrom(table, size, 1)
  return found?.size === size ? found : undefined
}

/** It was withheld when the next checkpoint was signed, so it is never shown. */
export function putUnpublished(table: Table, size: number): void {
  table.put(numberKey(size), Buffer.alloc(0))
}

export function isUnpublished(table: TableReader, size: number): boolean {
  return table.get(numberKey(size)) !== undefined
}

export function putHandover(table: Table, sequence: Sequence, change: ChangeNamed<'checkpoint.key-rotated'>): void {
  table.put(numberKey(sequence), handovers.encode(change))
}

/** All of them, in the order of their entries. */
export function allHandovers(table: TableReader): HandoverState[] {
  return Array.from(table.rows({}), handoverOf)
}

export function getLastHandover(table: TableReader): HandoverState | undefined {
  const [last] = table.rows({ reverse: true, limit: 1 })
  return last && handoverOf(last)
}

function handoverOf({ key, value }: Row): HandoverState {
  return { sequence: sequenceOf(readNumber(key, 0)), ...handovers.decode(value) }
}

function stateOf({ key, value }: Row): CheckpointState {
  return { sequence: sequenceOf(readNumber(key, 0)), ...decode(value) }
}
