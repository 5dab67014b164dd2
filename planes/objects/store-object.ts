import type { Done } from '../../engine/commands/done.ts'
import { DomainError } from '../../engine/errors.ts'
import type { Pairs } from '../../engine/events/audit.ts'
import type { RequestedChange, RequestJournal } from '../exchange/request-journal.ts'
import type { RequestBody } from '../http/exchange.ts'
import {
  type BodyLength,
  type PayloadChecks,
  type PayloadStores,
  type ReceivedPayload,
  receivePayload,
} from './receive-payload.ts'

/** An upload of an object or part. */
interface Upload {
  readonly journal: RequestJournal
  readonly body: RequestBody
  readonly length: BodyLength
  readonly checks: PayloadChecks
}

/**
 * Receives the body of an object or part, with a recorded attempt if it is long, and has the engine carry out the
 * change that publishes it. `details` are further metadata of its audit records.
 * @param change makes the command from the received payload
 * @throws DomainError when the rules refuse; the body is discarded then
 * @throws as receivePayload and RequestJournal.execute
 */
export async function storeObject(
  stores: PayloadStores,
  { journal, body, length, checks }: Upload,
  change: (received: ReceivedPayload) => RequestedChange,
  details?: Pairs,
): Promise<{ readonly done: Done; readonly received: ReceivedPayload }> {
  const receiving = receivePayload(body, length, stores, checks, () => journal.attempt())
  const received = receiving instanceof Promise ? await receiving : receiving
  try {
    return { done: await journal.execute(change(received), details), received }
  } catch (error) {
    // Discards the file only after a refusal: after any other failure an entry may refer to it.
    const isRefused = error instanceof DomainError
    if (isRefused && received.body.kind === 'file') await stores.uploads.discard(received.body.name)
    throw error
  }
}
