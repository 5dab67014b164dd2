/** Bodies in chunks, in each form and spoiled in each way, against both operations that take them (S1, S15). */
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { encodedBody } from '../../../support/chunked-requests.ts'
import { requestText } from '../../../support/raw/request-text.ts'
import { requestTarget } from '../../../support/signing.ts'
import { BUCKET } from '../arena.ts'
import type { Assault } from '../assault.ts'
import type { Lane } from '../../../support/raw/lane.ts'
import { spoiledChunks, wholeChunks } from './chunk-cases.ts'
import type { ChunkTarget } from './spoiling.ts'

const KEY = 'in-chunks'
const PART = '77'

export async function attackChunks(assault: Assault): Promise<string> {
  const { arena, random } = assault
  const { host } = arena.server.wire
  const signer = arena.signers.everything
  const upload: ChunkTarget = {
    name: 'UploadPart',
    path: `/${BUCKET}/open`,
    query: [
      ['partNumber', PART],
      ['uploadId', arena.uploads.open],
    ],
  }
  const targets: readonly ChunkTarget[] = [{ name: 'PutObject', path: `/${BUCKET}/${KEY}`, query: [] }, upload]
  const spoiled = assault.some(spoiledChunks(targets, host, signer), ({ kinds }) => kinds)
  await assault.onS3('spoiled chunks', spoiled, async (lane, { name, target, headers, body, codes }) => {
    const bytes = requestBytes(target, headers, body, random.below(2) === 0)
    const answer = await assault.ask(lane, { name, method: 'PUT', bytes, mayChange: false })
    if (answer === undefined || codes.includes(answer.code ?? '')) return
    const { status, code } = answer
    assault.ledger.fault(
      status < 300 ? 'let in' : 'wrong',
      name,
      `${status} ${code} instead of ${codes.join(' or ')}`,
      bytes,
    )
  })
  await assault.onS3('what spoiled chunks left', targets, (lane, target) => leftNothing(assault, lane, target))
  await assault.onS3('whole chunks', wholeChunks(targets, host, signer), async (lane, { name, target, whole }) => {
    const bytes = requestBytes(target, whole.request.headers, encodedBody(whole.parts), random.below(2) === 0)
    await assault.expect(lane, { name, method: 'PUT', bytes, mayChange: true }, [200])
  })
  return `${spoiled.length} bodies`
}

async function leftNothing(assault: Assault, lane: Lane, { name, path, query }: ChunkTarget): Promise<void> {
  const isObject = query.length === 0
  const own = query.filter(([parameter]) => parameter === 'uploadId')
  const question = { name: `${name} after spoiled chunks`, method: 'GET', path, query: own }
  const answer = await assault.signed(lane, question, isObject ? [404] : [200], false)
  if (isObject || answer === undefined || !answer.body.includes(`<PartNumber>${PART}<`)) return
  assault.ledger.fault('let in', question.name, 'the part is there')
}

/** One byte a character; with its length, or in chunks of HTTP. */
export function requestBytes(
  { path, query }: ChunkTarget,
  headers: readonly HeaderLine[],
  body: Buffer,
  isSized: boolean,
): string {
  const framing = isSized ? `content-length: ${body.length}` : 'transfer-encoding: chunked'
  const start = requestText('PUT', requestTarget(path, query), [...headers, framing])
  const text = body.toString('latin1')
  if (isSized) return start + text
  const chunk = body.length === 0 ? '' : `${body.length.toString(16)}\r\n${text}\r\n`
  return `${start}${chunk}0\r\n\r\n`
}
