/** Malformed HTTP to both planes: one answer or none, never a fault of the server, nothing smuggled (S23, S25). */
import { MALFORMED_REQUESTS, type MalformedRequest } from '../../planes/malformed-requests.ts'
import { openRaw } from '../../support/raw/raw-client.ts'
import { atMost } from '../../support/waiting.ts'
import type { Assault } from './assault.ts'

const TOGETHER = 60
/** How long a second answer is waited for, and how long the end of a connection: the library takes up to 14 s. */
const SECOND_MILLISECONDS = 300
const END_MILLISECONDS = 40_000
/** When more than this is refused unread, the connection may be reset before the answer is read. */
const ANSWER_IS_CERTAIN_BYTES = 20_000
const STATUS = /^HTTP\/1\.1 (\d{3}) /gm
/** Faults that the pages have; 505 is the library's own for what is no HTTP/1.1. */
const DOCUMENTED: ReadonlySet<number> = new Set([501, 503, 505])

interface Case extends MalformedRequest {
  readonly plane: string
  readonly port: number
}

export async function attackHttp(assault: Assault): Promise<void> {
  const { arena, ledger } = assault
  const planes = [
    { plane: 'S3', port: arena.server.port },
    { plane: 'management', port: arena.apiPort },
  ]
  const cases = planes
    .flatMap((plane) => MALFORMED_REQUESTS.map((request) => ({ ...plane, ...request })))
    // Those that take long all at the same time.
    .toSorted((left, right) => Number(right.answer === 'silence') - Number(left.answer === 'silence'))
  ledger.tried('malformed HTTP', cases.length)
  for (let start = 0; start < cases.length; start += TOGETHER) {
    await Promise.all(cases.slice(start, start + TOGETHER).map((one) => send(assault, one)))
  }
}

async function send({ ledger, canaries }: Assault, one: Case): Promise<void> {
  ledger.requests += 1
  ledger.connections += 1
  const client = openRaw(one.port)
  client.send(one.sent)
  if (one.answer === 'silence' || one.answer === 'closed') await atMost(END_MILLISECONDS, client.closed)
  else {
    await atMost(END_MILLISECONDS, client.until(/\r\n\r\n/))
    await atMost(SECOND_MILLISECONDS, client.closed)
  }
  const open = !client.socket.closed
  client.socket.destroy()
  const name = `${one.plane} / ${one.name}`
  const fault = faultOf(one, client.received, open)
  if (fault !== undefined) ledger.fault('wrong', name, fault, one.sent)
  const secret = canaries.findIn(client.received)
  if (secret !== undefined) ledger.fault('leaked', name, secret, one.sent)
}

/** What is wrong with what was received; `open`: the connection was not closed in time. */
function faultOf({ answer, sent }: MalformedRequest, received: string, open: boolean): string | undefined {
  const statuses = [...received.matchAll(STATUS)].map((match) => Number(match[1])).filter((status) => status >= 200)
  const got = `${statuses.length === 0 ? 'no answer' : statuses.join(' and ')}${open ? ', still open' : ''}`
  if (statuses.length > 1) return `two answers: ${got}`
  const [status] = statuses
  if (status !== undefined && status >= 500 && !DOCUMENTED.has(status)) return got
  if (answer === 'closed' || answer === 'silence') {
    return open || (answer === 'silence' && status !== undefined) ? `${got} instead of ${answer}` : undefined
  }
  if (status === undefined) return sent.length > ANSWER_IS_CERTAIN_BYTES && !open ? undefined : got
  if (answer === 'handled') return undefined
  const closes = /^connection: close\r$/im.test(received)
  return status === answer && closes ? undefined : `${got}${closes ? '' : ', goes on'} instead of ${answer}`
}
