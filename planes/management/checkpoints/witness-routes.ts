import { networkOf } from '../../http/limits/network-of.ts'
import { RefusalPace } from '../../exchange/refusal-pace.ts'
import { BodyTooLargeError } from '../../http/exchange.ts'
import { bytesOf, defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { ManagementError } from '../errors.ts'
import { jsonResponse, textResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { microsecondsOf } from '../../../engine/brands.ts'
import { rfc3339 } from '../requests/timestamps.ts'
import { FLAG, listOf, object, SHA256, text, TIME, whole } from '../schemas/schema.ts'
import { SUBMISSION_BYTES_MAXIMUM } from './witness.ts'
import { hex } from './checkpoint-parts.ts'

/**
 * Of all unauthenticated senders together. Each costs verifying a signature, 1.5 ms; a log submits every few seconds.
 */
const SUBMISSIONS_PER_SECOND = 20
const submissionPace = new RefusalPace(undefined, undefined, SUBMISSIONS_PER_SECOND)

const TEXT = 'text/plain; charset=utf-8'
const SIZE = 'text/x.tlog.size'
const MICROSECONDS = 1_000_000

function timeOf(seconds: number): string {
  return rfc3339(microsecondsOf(seconds * MICROSECONDS))
}

const addCheckpoint = defineRoute({
  pattern: 'POST /transparency/witness/add-checkpoint',
  roles: 'none',
  summary:
    'Cosigns a checkpoint of another log (C2SP tlog-witness), if checkpoints.witness_for names its key. 409 has the size that is known.',
  takesText: true,
  answer: { 200: bytesOf(TEXT), 409: bytesOf(SIZE) },
  errors: ['LOG_NOT_WITNESSED', 'LOG_SIGNATURE_INVALID', 'CONSISTENCY_REFUSED'],
  async handle({ http, journal }, { witness }) {
    if (!witness.isOn) {
      journal.leaveUnrecorded()
      throw new ManagementError('LOG_NOT_WITNESSED', 'This store witnesses no logs (checkpoints.witness_for).')
    }
    await submissionPace.turn(networkOf(http.remoteAddress))
    const examined = await witness.examine(await bodyOf(http.body), journal)
    journal.leaveUnrecorded()
    if ('conflict' in examined) return textResponse(409, SIZE, `${examined.conflict}\n`)
    return textResponse(200, TEXT, examined.line)
  },
})

/** @throws ManagementError BODY_TOO_LARGE */
async function bodyOf(body: { readAll(bytesMaximum: number): Promise<Buffer> }): Promise<Buffer> {
  try {
    return await body.readAll(SUBMISSION_BYTES_MAXIMUM)
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw new ManagementError('BODY_TOO_LARGE')
    throw error
  }
}

const getWitnessKey = defineRoute({
  pattern: 'GET /transparency/witness/key',
  roles: EVERYONE,
  summary:
    'The key of this store as a witness (C2SP vkey), for comparison only: to trust it, get it from somewhere else.',
  answer: { 200: bytesOf(TEXT) },
  handle: (_, { witness }) => textResponse(200, TEXT, `${witness.keyText}\n`),
})

const getWitnessedLogs = defineRoute({
  pattern: 'GET /transparency/witness/logs',
  roles: EVERYONE,
  summary: 'Logs that this store has witnessed: up to which tree, and since when.',
  answer: {
    200: json(
      object({
        logs: listOf(
          object({
            origin: text(),
            size: whole({ minimum: 1 }),
            root: SHA256,
            public_key: SHA256,
            cosigned_at: TIME,
            sequence: whole(),
            first_cosigned_at: TIME,
            first_sequence: whole(),
            current: FLAG,
          }),
        ),
      }),
    ),
  },
  handle: (_, { witness }) =>
    jsonResponse(200, {
      logs: witness.witnessed().map(({ origin, size, root, publicKey, seconds, sequence, first, isCurrent }) => ({
        origin,
        size,
        root: hex(root),
        public_key: hex(publicKey),
        cosigned_at: timeOf(seconds),
        sequence,
        first_cosigned_at: timeOf(first.seconds),
        first_sequence: first.sequence,
        current: isCurrent,
      })),
    }),
  command: command('checkpoint witnessed', 'list the logs that this store has witnessed', {
    show: { list: 'logs', columns: ['origin', 'size', 'cosigned_at', 'first_cosigned_at', 'current'] },
  }),
})

export const WITNESS_ROUTES: readonly Route[] = [addCheckpoint, getWitnessKey, getWitnessedLogs]
