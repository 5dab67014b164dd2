import { microsecondsOf } from '../../../engine/brands.ts'
import { RECEIPT_BYTES_MAXIMUM } from '../../../engine/events/names.ts'
import type { CheckpointState, ReceiptState } from '../../../engine/checkpoints/state.ts'
import { readTimeStamp, TimeStampError } from '../../../engine/checkpoints/time-stamp.ts'
import { ADMINISTRATOR, defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { queryNumber } from '../schemas/query.ts'
import { listOf, object, orNull, text, whole } from '../schemas/schema.ts'
import { asked, RECEIPT_NAMES, receiptNames } from './checkpoint-parts.ts'

const PAGE_MAXIMUM = 100
const RECEIPT = object({ size: whole({ minimum: 1 }), ...RECEIPT_NAMES, receipt: text() })
/** Giver of a receipt that was fetched by hand. */
const BY_HAND = 'by-hand'
const BASE64_CHARACTERS_MAXIMUM = 4 * Math.ceil(RECEIPT_BYTES_MAXIMUM / 3)

function receiptRecord(receipt: ReceiptState): Record<string, unknown> {
  const base64 = Buffer.from(receipt.receipt).toString('base64')
  return { size: receipt.size, ...receiptNames(receipt), receipt: base64 }
}

const getReceipts = defineRoute({
  pattern: 'GET /transparency/receipts',
  roles: EVERYONE,
  summary: 'A page of what others said about checkpoints: time stamps of RFC 3161, signatures of witnesses, locks.',
  query: {
    size: queryNumber(1, { minimum: 1 }),
    after: queryNumber(0),
    limit: queryNumber(PAGE_MAXIMUM, { minimum: 1, maximum: PAGE_MAXIMUM }),
  },
  answer: {
    200: json(
      object({
        receipts: listOf(RECEIPT, { maximum: PAGE_MAXIMUM }),
        next_size: orNull(whole()),
        next_after: orNull(whole()),
      }),
    ),
  },
  handle(request, { checkpoints }) {
    const limit = request.query('limit')
    const page = checkpoints.receiptsAfter(request.query('size'), request.query('after'), limit)
    const last = page.length === limit ? page.at(-1) : undefined
    return jsonResponse(200, {
      receipts: page.map(receiptRecord),
      next_size: last?.size ?? null,
      next_after: last?.sequence ?? null,
    })
  },
  command: command('checkpoint receipts', 'list a page of what others said about checkpoints', {
    options: {
      size: 'of checkpoints of this size and later',
      after: 'go on after this entry',
      limit: 'most of the page',
    },
    show: {
      list: 'receipts',
      columns: ['size', 'sequence', 'kind', 'giver', 'asserted_at'],
      also: ['next_size', 'next_after'],
    },
  }),
})

const addReceipt = defineRoute({
  pattern: 'POST /transparency/receipts',
  roles: ADMINISTRATOR,
  summary: 'Keeps a time stamp of RFC 3161 that was fetched elsewhere, for a store that reaches no authority.',
  request: object(
    { receipt: text({ minimum: 4, maximum: BASE64_CHARACTERS_MAXIMUM }) },
    { size: whole({ minimum: 1 }), giver: text({ minimum: 1, maximum: 512 }) },
  ),
  answer: { 201: json(object({ size: whole(), asserted_at: RECEIPT_NAMES.asserted_at })) },
  errors: ['CHECKPOINT_NOT_FOUND', 'TREES_NOT_READY', 'TOO_MANY_RECEIPTS', 'RECEIPT_REFUSED'],
  async handle(request, { checkpoints }) {
    const { size, receipt: base64, giver = BY_HAND } = await request.body()
    if (!/^[!-~]+$/.test(giver)) throw invalid('giver', 'must be printable characters without blanks')
    const receipt = Buffer.from(base64, 'base64')
    if (receipt.toString('base64') !== base64) throw invalid('receipt', 'is not base64')
    const newest = checkpoints.newest()?.size ?? 0
    if (size !== undefined && size > newest) throw beyond(size, newest)
    const checkpoint = asked(() => checkpoints.ofSize(size))
    const assertedMicroseconds = timeOf(receipt, checkpoint)
    await request.journal.attempt()
    const kept = { size: checkpoint.size, kind: 'rfc3161', giver, receipt, assertedMicroseconds } as const
    await request.journal.executeAsSystem('checkpoints', 'checkpoint.receipt', {
      kind: 'record-receipt',
      receipt: kept,
    })
    const { asserted_at } = receiptNames({ assertedMicroseconds } as ReceiptState)
    return jsonResponse(201, { size: checkpoint.size, asserted_at })
  },
})

/** The refusal of a receipt for a checkpoint beyond the newest of this log. */
function beyond(size: number, newest: number): ManagementError {
  return new ManagementError(
    'CHECKPOINT_NOT_FOUND',
    `there is no checkpoint of ${size} records, and the last one has ${newest}: if this store signed it, the data directory was rolled back`,
  )
}

/** @throws ManagementError RECEIPT_REFUSED */
function timeOf(receipt: Buffer, { bundleRoot }: CheckpointState) {
  try {
    return microsecondsOf(readTimeStamp(receipt, { root: bundleRoot, nonce: undefined }).assertedMicroseconds)
  } catch (error) {
    if (error instanceof TimeStampError) throw new ManagementError('RECEIPT_REFUSED', error.message)
    throw error
  }
}

export const RECEIPT_ROUTES: readonly Route[] = [getReceipts, addReceipt]
