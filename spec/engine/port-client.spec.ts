import { setImmediate } from 'node:timers/promises'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { test } from 'tap'
import { EngineUnavailableError } from '../../engine/errors.ts'
import { PortEngineClient } from '../../engine/port-client.ts'
import type { ReplyMessage, RequestMessage } from '../../engine/port-messages.ts'
import { auditOf, createBucket } from '../support/commands.ts'

/** Far more than may be on its way. */
const FLOOD = 100_000

/** An engine thread that answers when the spec says so. */
function clientOf(teardown: (end: () => void) => void) {
  const { port1, port2 } = new MessageChannel()
  teardown(() => port1.close())
  const requests: RequestMessage[] = []
  port2.on('message', (message: RequestMessage) => requests.push(message))
  const reply = (message: ReplyMessage) => port2.postMessage(message)
  return { client: new PortEngineClient(port1 satisfies MessagePort), requests, reply }
}

/** How many a caller hands over that waits as soon as it is told to. */
function takenOf(hand: () => Promise<void> | undefined): [taken: number, wait: Promise<void> | undefined] {
  for (let count = 1; count <= FLOOD; count += 1) {
    const wait = hand()
    if (wait !== undefined) return [count, wait]
  }
  return [FLOOD, undefined]
}

async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate()
}

test('S25 J20 refused changes are bounded on their way to the journal', async (t) => {
  const { client, requests, reply } = clientOf((end) => t.teardown(end))
  const [taken, wait] = takenOf(() => client.recordFailedChange(auditOf('s3:PUT', 'denied'), 'denied', []))
  t.equal(taken, 4097)
  let over = false
  void wait?.then(() => (over = true))
  await turns()
  t.equal(over, false, 'it waits for the engine')
  const commands = requests.flatMap((message) => message.commands)
  t.equal(commands.length, taken, 'and all that was taken is with the engine')
  reply({
    kind: 'replies',
    auditBytes: 0,
    replies: commands.map(([id]) => [id, { ok: true, done: { sequence: id, timeMicroseconds: 1 } }]),
  })
  await wait
})

test('S25 records of reads are bounded on their way to the journal', async (t) => {
  const { client, requests, reply } = clientOf((end) => t.teardown(end))
  const [, wait] = takenOf(() => client.record(auditOf('s3:GET', 'k'), 'success'))
  await turns()
  const bytes = requests.reduce((total, { audits }) => total + (audits?.length ?? 0), 0)
  t.ok(bytes >= 4 << 20 && bytes < (4 << 20) + 1024, `${bytes} bytes`)
  reply({ kind: 'replies', auditBytes: bytes, replies: [] })
  await wait
})

test('J7 when the engine is gone nobody waits for ever, and nothing more is taken', async (t) => {
  const { client, reply } = clientOf((end) => t.teardown(end))
  const [, refused] = takenOf(() => client.recordFailedChange(auditOf('s3:PUT', 'denied'), 'denied', []))
  const [, read] = takenOf(() => client.record(auditOf('s3:GET', 'k'), 'success'))
  const change = client.execute(createBucket('photos'))
  const failed = t.rejects(change, EngineUnavailableError)
  reply({ kind: 'failed', reason: 'the disk is broken' })
  await Promise.all([refused, read, failed])
  await t.rejects(client.execute(createBucket('photos')), { message: /the disk is broken/ })
  t.equal(client.record(auditOf('s3:GET', 'k'), 'success'), undefined)
})
