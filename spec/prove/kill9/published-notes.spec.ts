/** The reader of checkpoints in `kill9` notices what a server must never do. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Test, test } from 'tap'
import { checkpointNote } from '../../../engine/checkpoints/checkpoint-note.ts'
import { LOG_HASHING } from '../../../engine/checkpoints/tree-hashing.ts'
import { consistencyProofText } from '../../../engine/checkpoints/tree-proofs.ts'
import { noKills } from './kill-counts.ts'
import { PublishedNotes } from './published-notes.ts'

const [LEFT, RIGHT] = [LOG_HASHING.leaf(Buffer.alloc(32, 1)), LOG_HASHING.leaf(Buffer.alloc(32, 2))]
const ONE = noteOf(1, LEFT)
const TWO = noteOf(2, LOG_HASHING.node(LEFT, RIGHT))

function noteOf(size: number, root: Uint8Array): string {
  return checkpointNote({ origin: 'log', size, root }, Buffer.alloc(32), Buffer.alloc(64))
}

/** A server that says whatever a spec wants. */
async function startServer(t: Test): Promise<{ says: { note: string | undefined; proof: string }; endpoint: string }> {
  const says: { note: string | undefined; proof: string } = { note: undefined, proof: '' }
  const server = createServer((request, response) => {
    const text = request.url?.includes('/proof/') ? says.proof : says.note
    response.writeHead(text === undefined ? 404 : text === '' ? 503 : 200).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { says, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** What is found when a server had one note before it was killed, and then has another. */
async function found(t: Test, before: string, after: string | undefined, proof = ''): Promise<[string[], number]> {
  const counts = noKills()
  const notes = new PublishedNotes('', counts)
  const { says, endpoint } = await startServer(t)
  says.note = before
  t.same(await notes.check(endpoint), [])
  says.note = after
  says.proof = proof
  return [(await notes.check(endpoint)).map(({ kind, text }) => `${kind}: ${text}`), counts.extended]
}

test('T3 a note that stays, and one that is extended, are in order', async (t) => {
  t.same(await found(t, ONE, ONE), [[], 0])
  t.same(await found(t, ONE, TWO), [[], 0], 'while the trees are made again')
  t.same(await found(t, ONE, TWO, consistencyProofText(1, [RIGHT], TWO)), [[], 1])
})

test('T3 a note that is taken back, signed twice or not extended is noticed', async (t) => {
  t.same(await found(t, TWO, ONE), [['lost: the note of 2 records was taken back: 1 records'], 0])
  t.same(await found(t, TWO, undefined), [['lost: the note of 2 records was taken back: no records'], 0])
  t.same(await found(t, TWO, noteOf(2, LEFT)), [['wrong: 2 records were signed twice'], 0])
  const forked = consistencyProofText(1, [LEFT], TWO)
  t.same(await found(t, ONE, TWO, forked), [['wrong: the note of 2 records does not extend that of 1'], 0])
})
