/** Odd notes, of which the verifier in Python and ours say the same. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import {
  checkpointText,
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  signatureLine,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'
import { handoverNote, handoverText, keyForSize, readHandovers } from '../../engine/checkpoints/key-handover.ts'
import { readConsistencyProof } from '../../engine/checkpoints/tree-proofs.ts'

const ORIGIN = 'odd.example/log'
const [KEY, OTHER, THIRD] = [21, 22, 23].map((seed) => new SigningKey(Buffer.alloc(32, seed))) as [
  SigningKey,
  SigningKey,
  SigningKey,
]
const ROOT = Buffer.alloc(32, 5)
const SIZE = 15
const VKEY = verifierKeyText(ORIGIN, KEY.publicKey)

const textOf = (size: number | string = SIZE, more = ''): string =>
  `${checkpointText({ origin: ORIGIN, size: 0, root: ROOT }).toString().replace('\n0\n', `\n${size}\n`)}${more}`
const line = (text: string, key = KEY, spoil = false, name = ORIGIN): string => {
  const signature = Buffer.from(key.sign(Buffer.from(text)))
  if (spoil) signature[0] = (signature[0] ?? 0) ^ 1
  return signatureLine('log', name, key.publicKey, signature)
}
const note = (text = textOf(), ...lines: readonly string[]): string =>
  `${text}\n${lines.length === 0 ? line(text) : lines.join('')}`
const TEXT = textOf()
const short = signatureLine('log', ORIGIN, KEY.publicKey, Buffer.alloc(63))

const NOTES: Readonly<Record<string, readonly [text: string, holds: boolean]>> = {
  signed: [note(), true],
  'signed twice': [note(TEXT, line(TEXT), line(TEXT)), true],
  'a true and a false signature of one key': [note(TEXT, line(TEXT), line(TEXT, KEY, true)), false],
  'a false and a true one': [note(TEXT, line(TEXT, KEY, true), line(TEXT)), false],
  'a true one and one of 63 bytes': [note(TEXT, line(TEXT), short), false],
  'a false one of another key': [note(TEXT, line(TEXT, OTHER, true), line(TEXT)), true],
  'by another key alone': [note(TEXT, line(TEXT, OTHER)), false],
  '100 signatures': [note(TEXT, ...Array.from({ length: 99 }, () => line(TEXT, OTHER)), line(TEXT)), true],
  '101 signatures': [note(TEXT, ...Array.from({ length: 100 }, () => line(TEXT, OTHER)), line(TEXT)), false],
  'no signature': [`${TEXT}\n`, false],
  'a line that is none': [note(TEXT, line(TEXT), 'x\n'), false],
  'without its last line feed': [note().slice(0, -1), false],
  'an extension': [note(textOf(SIZE, 'more\n')), true],
  'a control character': [note(textOf(SIZE, 'mo\tre\n')), false],
  'a size of 2^53': [note(textOf('9007199254740992')), false],
  'a size below it': [note(textOf('9007199254740991')), true],
  'a size with a zero in front': [note(textOf('015')), false],
  nothing: ['', false],
  'line feeds': ['\n\n\n\n', false],
  'too long': [note(textOf(SIZE, `${'x'.repeat(70_000)}\n`)), false],
  'a blank of another script in the name': [note(TEXT, line(TEXT), line(TEXT, OTHER, false, 'a\u0085b')), false],
  'a byte order mark in the name': [note(TEXT, line(TEXT), line(TEXT, OTHER, false, 'a\ufeffb')), false],
}

function strangerTakes(root: string, text: string, handovers?: string): boolean {
  const [file, chain] = [join(root, 'note.txt'), join(root, 'handovers.txt')]
  writeFileSync(file, text)
  if (handovers !== undefined) writeFileSync(chain, handovers)
  const words = ['--key', VKEY, ...(handovers === undefined ? [] : ['--handovers', chain]), file]
  const { status, stderr, stdout } = spawnSync('python3', ['spec/formats/verify_checkpoint.py', ...words], {
    encoding: 'utf8',
  })
  if (stderr !== '' || stdout.includes('damaged:')) throw new Error(stdout + stderr)
  return status === 0
}

function weTake(text: string, handovers = ''): boolean {
  try {
    const read = readCheckpointNote(text)
    return isSignedBy(read, keyForSize(readVerifierKey(VKEY), read.size, readHandovers(handovers)))
  } catch {
    return false
  }
}

test('checkpoints: both verifiers say the same', (t) => {
  const root = t.testdir()
  for (const [name, [text, holds]] of Object.entries(NOTES)) {
    t.equal(weTake(text), holds, name)
    t.equal(strangerTakes(root, text), holds, `${name}, in Python`)
  }
  t.end()
})

function handover(size: number, newKey: SigningKey, oldKey = KEY): string {
  const said = { origin: ORIGIN, size, root: ROOT, oldKey: oldKey.publicKey, newKey: newKey.publicKey }
  const text = handoverText(said)
  return handoverNote({ ...said, oldSignature: oldKey.sign(text), newSignature: newKey.sign(text) })
}

test('hand-overs: both take the first checkpoint at which a key handed over, whatever the order of the file', (t) => {
  const root = t.testdir()
  const byKey = note()
  const byOther = note(TEXT, line(TEXT, OTHER))
  const files: Readonly<Record<string, readonly [file: string, key: boolean, other: boolean]>> = {
    none: ['', true, false],
    'before the checkpoint': [handover(10, OTHER), false, true],
    'at the checkpoint': [handover(SIZE, OTHER), true, false],
    'twice, the earlier first': [[handover(10, OTHER), handover(20, OTHER)].join('\n'), false, true],
    'twice, the later first': [[handover(20, OTHER), handover(10, OTHER)].join('\n'), false, true],
    'the same twice': [[handover(20, OTHER), handover(20, OTHER)].join('\n'), true, false],
    'to two keys': [[handover(10, OTHER), handover(20, THIRD)].join('\n'), false, false],
    'and back': [[handover(5, OTHER), handover(10, KEY, OTHER)].join('\n'), false, false],
    'at 0': [handover(0, OTHER), false, false],
    'half a file': [handover(10, OTHER).slice(0, 100), false, false],
  }
  for (const [name, [file, key, other]] of Object.entries(files)) {
    t.same([weTake(byKey, file), weTake(byOther, file)], [key, other], name)
    t.same([strangerTakes(root, byKey, file), strangerTakes(root, byOther, file)], [key, other], `${name}, in Python`)
  }
  t.end()
})

test('a proof of more lines than a path has is refused before its lines are decoded', (t) => {
  const hash = ROOT.toString('base64')
  const proof = (lines: number): string => `old 3\n${`${hash}\n`.repeat(lines)}\n${note()}`
  t.equal(readConsistencyProof(proof(63)).path.length, 63)
  t.equal(readConsistencyProof(proof(0)).note, note())
  for (const text of [proof(64), proof(1000), `old 0\n${'a\n'.repeat(32_000)}\n`, 'old 3\n', '\n\n', '']) {
    t.throws(() => readConsistencyProof(text), { name: 'CheckpointNoteError' })
  }
  t.end()
})
