/** Checkpoints as signed notes, and the keys that verify them: C2SP signed-note and tlog-checkpoint. */
import { test } from 'tap'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import {
  checkpointNote,
  checkpointText,
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'

/** The example of the format's description, and of Go's golang.org/x/mod/sumdb/note. */
const EXAMPLE_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'

const key = new SigningKey(Buffer.alloc(32, 7))
const statement = { origin: 'store.example/00', size: 70_000, root: Buffer.alloc(32, 9) }
const note = checkpointNote(statement, key.publicKey, key.sign(checkpointText(statement)))
const verifierKey = readVerifierKey(verifierKeyText(statement.origin, key.publicKey))

test('the key of the published example is read, and its id is that of its name and bytes', async (t) => {
  const { name, keyId, publicKey } = readVerifierKey(EXAMPLE_KEY)
  t.match({ name, keyId, length: publicKey.length }, { name: 'PeterNeumann', keyId: 'c74f20a3', length: 32 })
  t.equal(verifierKeyText(name, publicKey), EXAMPLE_KEY)
})

test('T2 a note says origin, size and root, and its signature is of exactly these lines', async (t) => {
  t.equal(checkpointText(statement).toString(), `store.example/00\n70000\n${statement.root.toString('base64')}\n`)
  const read = readCheckpointNote(note)
  t.match(read, { origin: statement.origin, size: 70_000 })
  t.same(read.root, statement.root)
  t.ok(isSignedBy(read, verifierKey))
})

test('T10 signatures of other keys are ignored', async (t) => {
  const other = new SigningKey(Buffer.alloc(32, 8))
  const strange = checkpointNote(statement, other.publicKey, other.sign(checkpointText(statement)))
  t.notOk(isSignedBy(readCheckpointNote(strange), verifierKey))
  const both = `${note}${strange.split('\n\n')[1]}`
  t.ok(isSignedBy(readCheckpointNote(both), verifierKey))
  const repeated = `${note}${note.split('\n\n')[1]}`
  t.ok(isSignedBy(readCheckpointNote(repeated), verifierKey))
  const forged = checkpointNote(statement, key.publicKey, other.sign(checkpointText(statement)))
  const beside = `${note}${forged.split('\n\n')[1]}`
  t.notOk(isSignedBy(readCheckpointNote(beside), verifierKey), 'a false signature of the key counts against the note')
  const otherLog = readVerifierKey(verifierKeyText('another.log', key.publicKey))
  t.notOk(isSignedBy(readCheckpointNote(note), otherLog), 'the origin is pinned with the key')
})

test('every byte of a note counts', async (t) => {
  const bytes = Buffer.from(note)
  const accepted: number[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    try {
      if (isSignedBy(readCheckpointNote(changed.toString()), verifierKey)) accepted.push(at)
    } catch (error) {
      t.match(error, { name: 'CheckpointNoteError' })
    }
  }
  t.same(accepted, [])
})

test('what is not a note, and what is not a key, is refused', async (t) => {
  const wrong = [
    '',
    '\n\n',
    note.slice(0, -1),
    note.replace('70000', '070000'),
    note.replace('70000', '-1'),
    note.trimEnd(),
    note.replace('70000', String(2 ** 53)),
    note.replace('\n\n', '\n\u0007\n\n'),
  ]
  for (const one of [...wrong, note.replace('\n\n', '\n'), `${note}x\n`, 'x'.repeat(70_000)]) {
    t.throws(() => readCheckpointNote(one), { name: 'CheckpointNoteError' })
  }
  for (const one of ['', 'name', EXAMPLE_KEY.replace('c74f20a3', 'c74f20a4'), EXAMPLE_KEY.replace('+ARpc', '+AhpC')]) {
    t.throws(() => readVerifierKey(one), { name: 'CheckpointNoteError' })
  }
})
