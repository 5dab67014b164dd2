/** Shared by the routes of checkpoints and receipts. */
import { RECEIPT_KINDS } from '../../../engine/events/values.ts'
import type { ReceiptState } from '../../../engine/checkpoints/state.ts'
import { LogRefusal } from '../../../projections/checkpoints/checkpoint-log.ts'
import { ManagementError } from '../errors.ts'
import { oneOf, orNull, TIME, text, whole } from '../schemas/schema.ts'
import { rfc3339OrNull } from '../requests/timestamps.ts'

/** Returns the answer of the log; translates its refusals into errors of this plane. */
export function asked<T>(answer: () => T): T {
  try {
    return answer()
  } catch (error) {
    if (!(error instanceof LogRefusal)) throw error
    // The sentence of the table says what to do; the details are in the log.
    if (error.reason === 'damaged') throw new ManagementError('TREES_DAMAGED')
    throw new ManagementError(error.reason === 'not-ready' ? 'TREES_NOT_READY' : 'CHECKPOINT_NOT_FOUND', error.message)
  }
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** Members that identify a receipt. */
export const RECEIPT_NAMES = {
  sequence: whole(),
  kind: oneOf(...RECEIPT_KINDS),
  giver: text(),
  asserted_at: orNull(TIME),
}

export function receiptNames({ sequence, kind, giver, assertedMicroseconds }: ReceiptState): Record<string, unknown> {
  return { sequence, kind, giver, asserted_at: rfc3339OrNull(assertedMicroseconds) }
}
