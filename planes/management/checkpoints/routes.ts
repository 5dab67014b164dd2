import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { handoverFile } from '../../../engine/checkpoints/key-handover.ts'
import type { CheckpointLog } from '../../../projections/checkpoints/checkpoint-log.ts'
import {
  bytesOf,
  defineRoute,
  EVERYONE,
  json,
  type Pattern,
  type Query,
  type Route,
  type RouteRequest,
} from '../routing/define-route.ts'
import { ManagementError } from '../errors.ts'
import { bytesResponse, jsonResponse, textResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { queryCount, queryNumber } from '../schemas/query.ts'
import { listOf, object, orNull, SHA256, TIME, text, whole } from '../schemas/schema.ts'
import { tileOfPath } from '../requests/tile-path.ts'
import { rfc3339 } from '../requests/timestamps.ts'
import { asked, hex, RECEIPT_NAMES, receiptNames } from './checkpoint-parts.ts'
import { rotateCheckpointKey } from './rotate-checkpoint-key.ts'
import { RECEIPT_ROUTES } from './receipt-routes.ts'
import { WITNESS_ROUTES } from './witness-routes.ts'

const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'
const PAGE_MAXIMUM = 1000

const ERRORS = ['CHECKPOINT_NOT_FOUND', 'TREES_NOT_READY', 'TREES_DAMAGED'] as const

function checkpointRecord(checkpoint: CheckpointState, log: CheckpointLog): Record<string, unknown> {
  return {
    sequence: checkpoint.sequence,
    time: rfc3339(checkpoint.timeMicroseconds),
    size: checkpoint.size,
    root: hex(checkpoint.root),
    bundle_root: hex(checkpoint.bundleRoot),
    previous_checkpoint_hash: hex(checkpoint.previous),
    origin: checkpoint.origin,
    note: log.noteOf(checkpoint),
    receipts: log.receiptsOf(checkpoint.size).map(receiptNames),
  }
}

/** Defines a route that answers with a text of the log. */
function textRoute<const P extends Pattern, const Q extends Query = {}>({
  text: textOf,
  ...definition
}: {
  readonly pattern: P
  readonly summary: string
  readonly query?: Q
  readonly text: (log: CheckpointLog, request: RouteRequest<P, Q, never>) => string
}): Route {
  return defineRoute<P, Q>({
    ...definition,
    roles: EVERYONE,
    answer: { 200: bytesOf(TEXT) },
    errors: ERRORS,
    handle: (request, { checkpoints }) => asked(() => textResponse(200, TEXT, textOf(checkpoints, request))),
  })
}

const getCheckpoint = defineRoute({
  pattern: 'GET /transparency/checkpoint',
  roles: EVERYONE,
  summary: 'The last checkpoint, as a signed note (C2SP tlog-checkpoint) with the signatures of witnesses.',
  answer: { 200: bytesOf(TEXT) },
  errors: ERRORS,
  handle(request, { checkpoints, foldedReads }) {
    const note = asked(() => checkpoints.note())
    foldedReads.fold('checkpoint', request)
    return textResponse(200, TEXT, note)
  },
})

const getKey = textRoute({
  pattern: 'GET /transparency/key',
  summary:
    'The key that signed the last checkpoint (C2SP vkey), for comparison only: to trust it, get it from somewhere else.',
  text(log) {
    const { origin, publicKey } = log.last()
    return `${verifierKeyText(origin, publicKey)}\n`
  },
})

const getHandovers = textRoute({
  pattern: 'GET /transparency/key/handovers',
  summary:
    'How the key of the log was handed over: signed notes, the oldest first, an empty line between two; empty without one.',
  text: (log) => handoverFile(log.handovers()),
})

const getInclusion = textRoute({
  pattern: 'GET /transparency/proof/inclusion',
  summary: 'That a record is in the tree of a checkpoint (C2SP tlog-proof).',
  query: { sequence: queryNumber(0), size: queryCount },
  text: (log, request) => log.inclusion(request.query('sequence'), request.query('size')),
})

const getConsistency = textRoute({
  pattern: 'GET /transparency/proof/consistency',
  summary: 'That the tree of a checkpoint begins with that of its first records (C2SP tlog-witness).',
  query: { old: queryNumber(1), size: queryCount },
  text: (log, request) => log.consistency(request.query('old'), request.query('size')),
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
            receipts: listOf(object(RECEIPT_NAMES)),
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
      checkpoints: page.map((one) => checkpointRecord(one, checkpoints)),
      next_after: page.length === limit ? (page.at(-1)?.sequence ?? null) : null,
    })
  },
  command: command('checkpoint list', 'list a page of the checkpoints', {
    options: { after: 'go on after this sequence', limit: 'most of the page' },
    show: { list: 'checkpoints', columns: ['sequence', 'time', 'size', 'root'], also: ['next_after'] },
  }),
})

const getTile = defineRoute({
  pattern: 'GET /transparency/tile/{tile}',
  roles: EVERYONE,
  summary: 'Hashes of the tree, or its entries (C2SP tlog-tiles).',
  answer: { 200: bytesOf(BYTES) },
  errors: ERRORS,
  handle(request, { checkpoints, foldedReads }) {
    const tile = tileOfPath(request.parameters.tile)
    if (tile === undefined) throw new ManagementError('CHECKPOINT_NOT_FOUND', 'this is not the path of a tile')
    const hashes = asked(() => checkpoints.tile(tile))
    foldedReads.fold('tile', request)
    return bytesResponse(200, BYTES, hashes)
  },
})

/** The routes of the log of checkpoints, for witnesses, monitors and auditors. */
export const TRANSPARENCY_ROUTES: readonly Route[] = [
  getCheckpoint,
  getCheckpoints,
  getKey,
  getHandovers,
  rotateCheckpointKey,
  getInclusion,
  getConsistency,
  getTile,
  ...RECEIPT_ROUTES,
  ...WITNESS_ROUTES,
]
