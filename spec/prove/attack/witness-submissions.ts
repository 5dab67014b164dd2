/** What strangers send to a witness, who needs no token from anybody: only the log itself is cosigned, and only forwards (T9). */
import { OtherLog } from '../../support/other-log.ts'
import { WITNESSED } from './arena.ts'
import type { Assault } from './assault.ts'
import type { Lane } from '../../support/raw/lane.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { requestBytes } from '../../support/raw/request-text.ts'
import { apiBytes } from './signed-requests.ts'

const ROUTE = '/api/v1/transparency/witness/add-checkpoint'
const SIZE = 70
/** Of each submission. */
const REPEATS = 40

interface Submission {
  readonly name: string
  readonly body: string
  readonly status: number
}

function hostile(): Submission[] {
  const fork = new OtherLog(WITNESSED.origin, { history: 'another' })
  const forged = new OtherLog(WITNESSED.origin, { seed: 9 })
  const note = WITNESSED.note(90)
  const [text = '', signature = ''] = note.split('\n\n')
  const proof = WITNESSED.submission(SIZE, 90).slice(0, -note.length)
  return [
    { name: 'no text', body: '\0\0\0', status: 400 },
    { name: 'JSON', body: '{"old":70}', status: 400 },
    { name: 'a line feed too many', body: WITNESSED.submission(SIZE, 90).replace('\n', '\n\n'), status: 400 },
    { name: 'carriage returns', body: WITNESSED.submission(SIZE, 90).replaceAll('\n', '\r\n'), status: 400 },
    { name: 'a size beyond 2^53', body: `old ${2 ** 53}\n\n${note}`, status: 400 },
    { name: 'a negative size', body: `old -1\n\n${note}`, status: 400 },
    { name: 'a name that is a path', body: new OtherLog('../../etc/passwd').submission(0, 3), status: 404 },
    { name: 'another log', body: new OtherLog('strange.example/log').submission(0, 3), status: 404 },
    { name: 'a forged signature', body: forged.submission(SIZE, 90), status: 403 },
    { name: 'the signature of another size', body: `${proof}${text.replace('90', '91')}\n\n${signature}`, status: 403 },
    { name: 'an extension line that nobody signed', body: `${proof}${text}\nmore\n\n${signature}`, status: 403 },
    { name: 'an older checkpoint', body: WITNESSED.submission(0, 20), status: 409 },
    { name: 'an older checkpoint as if it were new', body: `old ${SIZE}\n\n${WITNESSED.note(20)}`, status: 400 },
    { name: 'a fork', body: fork.submission(SIZE, 90), status: 422 },
    { name: 'a fork of the same size', body: fork.submission(SIZE, SIZE), status: 422 },
    { name: 'the checkpoint that was seen, again', body: WITNESSED.submission(SIZE, SIZE), status: 200 },
  ]
}

export async function attackWitness(assault: Assault): Promise<void> {
  const { arena, ledger } = assault
  const send = (lane: Lane, { name, body, status }: Submission): Promise<RawAnswer | undefined> => {
    const host = arena.server.apiEndpoint.slice('http://'.length)
    const bytes = requestBytes('POST', ROUTE, [['host', host]], body)
    const question = { name: `witness: ${name}`, method: 'POST', bytes, mayChange: true }
    return assault.expect(lane, { ...question, isRecorded: ![200, 409].includes(status) }, [status])
  }
  const honest = { name: 'the log', body: WITNESSED.submission(0, SIZE), status: 200 }
  await assault.onApi('what a log submits', [honest], async (lane, one) => void (await send(lane, one)))
  const cases = hostile().flatMap((one) =>
    Array.from({ length: assault.fewer(REPEATS) }, (_, at) => ({ ...one, name: `${one.name}, ${at}` })),
  )
  await assault.onApi('submissions to a witness', cases, async (lane, one) => void (await send(lane, one)))
  const token = arena.known.systemToken
  await assault.onApi('what a witness has seen', ['/api/v1/transparency/witness/logs'], async (lane, target) => {
    const bytes = apiBytes(arena, 'GET', target, { token })
    const answer = await assault.ask(lane, { name: 'what was witnessed', method: 'GET', bytes, mayChange: false })
    const { logs } = JSON.parse(answer?.body ?? '{}') as { readonly logs?: readonly { readonly size: number }[] }
    if (logs?.length !== 1 || logs[0]?.size !== SIZE) ledger.fault('let in', 'a witness', answer?.body ?? 'no answer')
  })
}
