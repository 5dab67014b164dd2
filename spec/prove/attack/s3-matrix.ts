/** Every operation of S3, presented in every way, with every payload mode, by everybody (S1, S12, S13, S14). */
import type { S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import { S3_ERRORS } from '../../../planes/s3/errors/s3-errors.ts'
import { DECODED_LENGTH } from '../../../planes/s3/bodies/chunk-modes.ts'
import { isServed, type Operation } from '../../../planes/s3/handling/operation.ts'
import { ARENA_EXTENSIONS } from './arena.ts'
import type { Assault } from './assault.ts'
import { everyKeyIsRefused } from './batch-deletions.ts'
import { type S3Request, s3Requests } from './s3-requests.ts'
import { shuffled } from '../../support/share-of-cases.ts'
import { MODES, type Mode, PAYLOAD_MODES, type PayloadMode, sentIn, type Standing, standingsOf } from './senders.ts'

/** One cell. */
interface Case {
  readonly name: string
  readonly request: S3Request
  readonly mode: Mode
  readonly payload: PayloadMode
  readonly standing: Standing
}

/**
 * What it must be answered with: a code of the table, one of the statuses of who is let in, or a list in which no key is
 * anything but refused.
 */
type Verdict = { readonly code: S3ErrorCode } | { readonly statuses: readonly number[] } | 'every key refused'

function verdictOf({ request, mode, payload, standing }: Case): Verdict {
  const { operation, statuses } = request
  // Preflights are answered without a look at any signature.
  if (operation.method === 'OPTIONS') return { statuses }
  const code = mode.refusal(request, payload, standing)
  if (code !== undefined) return { code }
  if (!isServed(operation, ARENA_EXTENSIONS)) return { code: 'NotImplemented' }
  if (payload.kind === 'foreign streaming') return { code: 'NotImplemented' }
  if (payload.kind === 'streaming' && !takesChunks(request, mode)) return { code: 'NotImplemented' }
  const { allowed } = standing
  const isShown = operation.judgesBuckets && standing.seesABucket === true
  const isAllowed = isShown || allowed === 'everything' || (allowed === 'reading' && isReading(operation))
  if (!isAllowed) return operation.judgesKeys ? 'every key refused' : { code: 'AccessDenied' }
  // Nothing says how long the payload in the chunks is; chunks that are whole, and spoiled, have a part of their own.
  return payload.kind === 'streaming' ? { code: 'MissingContentLength' } : { statuses }
}

/** What the policy for reading allows: an ACL is written without a change. */
function isReading({ changes, method }: Operation): boolean {
  return !changes && method !== 'PUT'
}

function takesChunks({ operation }: S3Request, mode: Mode): boolean {
  return mode.name === 'header' && operation.headers.includes(DECODED_LENGTH)
}

function casesOf(request: S3Request, standings: readonly Standing[]): Case[] {
  const few = standings.filter(({ name }) => name === 'good' || name === 'wrong secret')
  return MODES.flatMap((mode) =>
    PAYLOAD_MODES.flatMap((payload) =>
      (mode.judges ? standings : few).map((standing) => ({
        name: [request.operation.name, mode.name, payload.name, standing.name].join(' / '),
        request,
        mode,
        payload,
        standing,
      })),
    ),
  )
}

/** Every operation, every way to send each payload, and every sender in each way. */
function kindsOf({ request, mode, payload, standing }: Case): readonly string[] {
  return [request.operation.name, `${mode.name} / ${payload.name}`, `${mode.name} by ${standing.name}`]
}

/** Tries the matrix, in an order of chance. */
export async function attackOperations(assault: Assault): Promise<void> {
  const { arena, random } = assault
  const standings = standingsOf(arena.signers)
  const all = s3Requests(arena).flatMap((request) => casesOf(request, standings))
  const cases = assault.some(all, kindsOf)
  await assault.onS3('every operation in every way', shuffled(cases, random), async (lane, one) => {
    const { request, mode, payload, standing, name } = one
    const sent = sentIn(mode, request, payload, standing, arena.server.wire.host)
    const { method } = request.operation
    const verdict = verdictOf(one)
    const answer = await assault.ask(lane, {
      name,
      method,
      mayChange: verdict !== 'every key refused' && 'statuses' in verdict,
      ...sent,
    })
    if (answer === undefined) return
    const { status, code } = answer
    const got = `${status} ${code ?? ''}`
    if (verdict === 'every key refused') {
      if (!everyKeyIsRefused(answer)) assault.ledger.fault('let in', name, `${got} for keys of others`, sent.bytes)
      return
    }
    if ('statuses' in verdict) {
      if (!verdict.statuses.includes(status)) {
        assault.ledger.fault('wrong', name, `${got} instead of ${verdict.statuses.join(' or ')}`, sent.bytes)
      }
      return
    }
    const isRight = status === S3_ERRORS[verdict.code].status && (method === 'HEAD' || code === verdict.code)
    if (isRight) return
    assault.ledger.fault(status < 300 ? 'let in' : 'wrong', name, `${got} instead of ${verdict.code}`, sent.bytes)
  })
}
