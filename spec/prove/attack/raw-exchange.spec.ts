import { test } from 'tap'
import { Lane, type Outcome, overLanes } from './raw-exchange.ts'
import { speaker } from './speaker.ts'

function answerOf(outcome: Outcome) {
  if (outcome.answer === undefined) throw new Error(`no answer: ${outcome.received}`)
  return outcome.answer
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-amz-request-id: R1\r\n\r\nok'

test('answers of every framing', async (t) => {
  const port = await speaker(
    t,
    OK,
    'HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n1c\r\n<E><Code>AccessDenied</Code>\r\n4\r\n</E>\r\n0\r\n\r\n',
    'HTTP/1.1 404 Not Found\r\nContent-Length: 40\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 No\r\nContent-Length: 31\r\n\r\n{"error":{"code":"FORBIDDEN"}}\n',
  )
  const lane = new Lane(port)
  t.match(answerOf(await lane.exchange('x', 'GET')), { status: 200, body: 'ok', requestId: 'R1', code: undefined })
  t.match(answerOf(await lane.exchange('x', 'GET')), { status: 403, code: 'AccessDenied' })
  t.match(answerOf(await lane.exchange('x', 'HEAD')), { status: 404, body: '' })
  t.match(answerOf(await lane.exchange('x', 'GET')), { status: 401, code: 'FORBIDDEN' })
  t.equal(lane.surplus, '')
  lane.close()
})

test('a second answer is seen, and the end of a connection', async (t) => {
  const port = await speaker(t, OK + OK, '', '')
  const lane = new Lane(port)
  t.equal(answerOf(await lane.exchange('x', 'GET')).body, 'ok')
  t.equal(lane.surplus, OK)
  lane.close()
  t.match(await lane.exchange('x', 'GET'), { answer: undefined, ended: 'closed', received: '' })
  lane.close()
})

test('every item is worked on once', async (t) => {
  const port = await speaker(t, ...Array.from({ length: 10 }, () => OK))
  const done: number[] = []
  await overLanes(port, 3, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], async (lane, item) => {
    if (answerOf(await lane.exchange('x', 'GET')).status === 200) done.push(item)
  })
  t.same(
    done.toSorted((left, right) => left - right),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
})
