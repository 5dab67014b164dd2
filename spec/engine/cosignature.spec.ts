/** Cosignatures of witnesses: C2SP tlog-cosignature, held against one that torchwood 0.9.0 made. */
import { test } from 'tap'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { checkpointText, readCheckpointNote, readSignatureLines } from '../../engine/checkpoints/checkpoint-note.ts'
import {
  cosignatureLine,
  cosignatureOf,
  cosignedMessage,
  cosignerKeyText,
  readCosignerKey,
} from '../../engine/checkpoints/cosignature.ts'

/** Of the seed of 32 bytes 0x0b. */
const WITNESS = 'witness.example/one+11394c61+BGa+fjMsekUzMr2dCn99sFX1xe8aBq2mbZizn7aBDEc6'
const COSIGNED = `store.example/00
70000
CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=

— witness.example/one ETlMYQAAAABrBMDrH4bdHxmIu/GRdJJBWKJ0k9gH7IL9Oo2BH7oFpEddxsv6fnrNSyWUit8IylsgtQIxfYGwqLqQpJGIvGEE/UTSDA==
`
const SECONDS = 0x6b_04_c0_eb

const signer = new SigningKey(Buffer.alloc(32, 11))
const key = readCosignerKey(WITNESS)
const text = checkpointText({ origin: 'store.example/00', size: 70_000, root: Buffer.alloc(32, 9) })

function lineOf(seconds: number, signed = seconds, by = signer): string {
  return cosignatureLine(key.name, signer.publicKey, { seconds, signature: by.sign(cosignedMessage(signed, text)) })
}

function secondsOf(lines: string): number | undefined {
  return cosignatureOf(text, readSignatureLines(lines), key)?.seconds
}

test("the cosignature of another program's witness is read, and the same one is made here", async (t) => {
  const note = readCheckpointNote(COSIGNED)
  const read = cosignatureOf(note.text, note.signatures, key)
  t.equal(read?.seconds, SECONDS)
  t.equal(cosignerKeyText(key.name, signer.publicKey), WITNESS)
  t.equal(`${text.toString()}\n${lineOf(SECONDS)}`, COSIGNED)
})

test('every byte of a cosigned checkpoint counts', async (t) => {
  const bytes = Buffer.from(COSIGNED)
  const accepted: number[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    try {
      const note = readCheckpointNote(changed.toString())
      if (cosignatureOf(note.text, note.signatures, key) !== undefined) accepted.push(at)
    } catch (error) {
      t.match(error, { name: 'CheckpointNoteError' })
    }
  }
  t.same(accepted, [])
})

test('T10 other keys are ignored, repeats count once, and a false one of the key counts against all', async (t) => {
  const other = new SigningKey(Buffer.alloc(32, 8))
  const strange = cosignatureLine('witness.example/two', other.publicKey, {
    seconds: 1,
    signature: other.sign(cosignedMessage(1, text)),
  })
  t.equal(secondsOf(strange), undefined)
  t.equal(secondsOf(strange + lineOf(7) + strange + lineOf(7)), 7)
  t.equal(secondsOf(lineOf(9) + lineOf(7)), 7, 'the earliest')
  t.equal(secondsOf(lineOf(7) + lineOf(7, 7, other)), undefined)
  t.equal(secondsOf(lineOf(7) + lineOf(9, 8)), undefined, 'the time is signed')
})

test('a time of 0, a time beyond 2^53 and signatures of other lengths are not cosignatures', async (t) => {
  t.equal(secondsOf(lineOf(0)), undefined)
  t.equal(secondsOf(lineOf(2 ** 60)), undefined)
  t.equal(secondsOf(lineOf(Number.MAX_SAFE_INTEGER)), Number.MAX_SAFE_INTEGER)
  const whole = Buffer.from(lineOf(7).split(' ')[2] as string, 'base64')
  for (const bytes of [whole.subarray(0, -1), whole.subarray(0, 12), Buffer.concat([whole, Buffer.of(0)])]) {
    t.equal(secondsOf(`— ${key.name} ${bytes.toString('base64')}\n`), undefined, `${bytes.length} bytes`)
  }
})

test('the key of a log is not that of a witness, and an answer without its last line feed is refused', async (t) => {
  const log = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
  t.throws(() => readCosignerKey(log), { name: 'CheckpointNoteError', message: /of a witness/ })
  for (const lines of ['', '\n', lineOf(7).trimEnd(), `${lineOf(7)}\n`]) {
    t.throws(() => readSignatureLines(lines), { name: 'CheckpointNoteError' })
  }
})
