import { type Test, test } from 'tap'
import { checkpointNote, checkpointText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { consistencyProofText } from '../../../engine/checkpoints/tree-proofs.ts'
import { SPEC_CHECKPOINT_KEYS } from '../../support/checkpoint-signing.ts'
import { OtherLog } from '../../support/other-log.ts'
import { type Ask, CheckpointClient } from './checkpoint-client.ts'

const LOG = new OtherLog('world.log/1')
const FORKED = new OtherLog('world.log/1', { history: 'two' })
const KEY = SPEC_CHECKPOINT_KEYS.newest(0)

function noteOf(log: OtherLog, size: number, key = KEY): string {
  const statement = { origin: log.origin, size, root: log.root(size) }
  return checkpointNote(statement, key.publicKey, key.sign(checkpointText(statement)))
}

/** A store that shows this, whatever it is asked for a proof of. */
function showing(note: string, log = LOG, old = 3, size = 7): Ask {
  return async (target) => {
    if (target.endsWith('/handovers')) return { status: 200, text: '' }
    if (target.includes('/proof/')) return { status: 200, text: consistencyProofText(old, log.path(old, size), note) }
    return { status: 200, text: note }
  }
}

async function clientOf(t: Test): Promise<CheckpointClient> {
  const client = new CheckpointClient(() => KEY.publicKey)
  t.equal(await client.look(async () => ({ status: 404, text: '' })), false, 'there is none yet')
  t.equal(await client.look(showing(noteOf(LOG, 3))), true)
  return client
}

test('a checkpoint that extends the one before', async (t) => {
  const client = await clientOf(t)
  t.equal(await client.look(showing(noteOf(LOG, 7))), true)
  t.equal(await client.look(showing(noteOf(LOG, 7))), true, 'the same again')
  t.same(client.shown.get(LOG.origin), new Set([3, 7]))
})

test('checkpoints that no honest store shows', async (t) => {
  const client = await clientOf(t)
  await t.rejects(
    client.look(async () => ({ status: 404, text: '' })),
    /is answered 404/,
    'it is gone',
  )
  await t.rejects(client.look(showing(noteOf(LOG, 2))), /of 2 records after that of 3 was shown/)
  const other = await clientOf(t)
  await t.rejects(other.look(showing(noteOf(FORKED, 3))), /has another root/)
  const third = await clientOf(t)
  await t.rejects(third.look(showing(noteOf(FORKED, 7), FORKED)), /does not extend it/)
  const fourth = await clientOf(t)
  await t.rejects(fourth.look(showing(noteOf(LOG, 7, LOG.key))), /nobody who may signed/)
})
