import type { CheckpointState } from '../../../engine/state-ports.ts'
import { verifierKeyText } from '../../../engine/transparency/checkpoint-note.ts'
import { LogRefusal, noteOf } from '../../../projections/trees/checkpoint-log.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { bytesOf, defineRoute, EVERYONE, json, type Route } from '../define-route.ts'
import { ManagementError } from '../errors.ts'
import { bytesResponse, jsonResponse, textResponse } from '../responses.ts'
import { command } from '../route-command.ts'
import { queryCount, queryNumber } from '../schemas/query.ts'
import { listOf, object, orNull, SHA256, TIME, text, whole } from '../schemas/schema.ts'
import { tileOfPath } from '../requests/tile-path.ts'
import { rfc3339 } from '../requests/timestamps.ts'

const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'
const PAGE_MAXIMUM = 1000

const ERRORS = ['CHECKPOINT_NOT_FOUND', 'TREES_NOT_READY'] as const

/** Refusals of the log as errors of this plane. */
function asked(answer: () => HttpResponse): HttpResponse {
  try {
    return answer()
  } catch (error) {
    if (!(error instanceof LogRefusal)) throw error
    throw new ManagementError(error.reason === 'not-ready' ? 'TREES_NOT_READY' : 'CHECKPOINT_NOT_FOUND', error.message)
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function checkpointRecord(checkpoint: CheckpointState): Record<string, unknown> {
  return {
    sequence: checkpoint.sequence,
    time: rfc3339(checkpoint.timeMicroseconds),
    size: checkpoint.size,
    root: hex(checkpoint.root),
    bundle_root: hex(checkpoint.bundleRoot),
    previous_checkpoint_hash: hex(checkpoint.previous),
    origin: checkpoint.origin,
    note: noteOf(checkpoint),
  }
}

const getCheckpoint = defineRoute({
  pattern: 'GET /transparency/checkpoint',
  roles: EVERYONE,
  summary: 'The last checkpoint, as a signed note (C2SP tlog-checkpoint).',
  answer: { 200: bytesOf(TEXT) },
  errors: ERRORS,
  handle: (_request, { checkpoints }) => asked(() => textResponse(200, TEXT, noteOf(checkpoints.last()))),
})

const getCheckpoints = defineRoute({
  pattern: 'GET /transparency/checkpoints',
  roles: EVERYONE,
  summary: 'A page of the checkpoints, the oldest first.',
  query: { after: queryCount, limit: queryNumber(100, { minimum: 1, maximum: PAGE_MAXIMUM }) },
  answer: {
    200: json(
      object({
        checkpoints: listOf(
          object({
            sequence: whole(),
            time: TIME,
            size: whole({ minimum: 1 }),
            root: SHA256,
            bundle_root: SHA256,
            previous_checkpoint_hash: SHA256,
            origin: text(),
            note: text(),
          }),
          { maximum: PAGE_MAXIMUM },
        ),
        next_after: orNull(whole()),
      }),
    ),
  },
  handle(request, { checkpoints }) {
    const limit = request.query('limit')
    const page = checkpoints.after(request.query('after') ?? -1, limit)
    return jsonResponse(200, {
      checkpoints: page.map(checkpointRecord),
      next_after: page.length === limit ? (page.at(-1)?.sequence ?? null) : null,
    })
  },
  command: command('checkpoint list', 'list a page of the checkpoints', {
    options: { after: 'go on after this sequence', limit: 'most of the page' },
    show: { list: 'checkpoints', columns: ['sequence', 'time', 'size', 'root'], also: ['next_after'] },
  }),
})

const getKey = defineRoute({
  pattern: 'GET /transparency/key',
  roles: EVERYONE,
  summary: 'The key of the log (C2SP vkey), for comparison only: to trust it, get it from somewhere else.',
  answer: { 200: bytesOf(TEXT) },
  errors: ERRORS,
  handle: (_request, { checkpoints }) =>
    asked(() => {
      const { origin, publicKey } = checkpoints.last()
      return textResponse(200, TEXT, `${verifierKeyText(origin, publicKey)}\n`)
    }),
})

const getInclusion = defineRoute({
  pattern: 'GET /transparency/proof/inclusion',
  roles: EVERYONE,
  summary: 'That a record is in the tree of a checkpoint (C2SP tlog-proof).',
  query: { sequence: queryNumber(0), size: queryCount },
  answer: { 200: bytesOf(TEXT) },
  errors: ERRORS,
  handle: (request, { checkpoints }) =>
    asked(() => textResponse(200, TEXT, checkpoints.inclusion(request.query('sequence'), request.query('size')))),
})

const getConsistency = defineRoute({
  pattern: 'GET /transparency/proof/consistency',
  roles: EVERYONE,
  summary: 'That the tree of one checkpoint begins with that of an earlier one.',
  query: { old: queryNumber(1, { minimum: 1 }), size: queryCount },
  answer: { 200: bytesOf(TEXT) },
  errors: ERRORS,
  handle: (request, { checkpoints }) =>
    asked(() => textResponse(200, TEXT, checkpoints.consistency(request.query('old'), request.query('size')))),
})

const getTile = defineRoute({
  pattern: 'GET /transparency/tile/{tile}',
  roles: EVERYONE,
  summary: 'Hashes of the tree, or its entries (C2SP tlog-tiles).',
  answer: { 200: bytesOf(BYTES) },
  errors: ERRORS,
  handle(request, { checkpoints }) {
    const tile = tileOfPath(request.parameters.tile)
    if (tile === undefined) throw new ManagementError('CHECKPOINT_NOT_FOUND', 'this is not the path of a tile')
    return asked(() => bytesResponse(200, BYTES, checkpoints.tile(tile)))
  },
})

/** The log of checkpoints, as witnesses, monitors and auditors read it. */
export const TRANSPARENCY_ROUTES: readonly Route[] = [
  getCheckpoint,
  getCheckpoints,
  getKey,
  getInclusion,
  getConsistency,
  getTile,
]
