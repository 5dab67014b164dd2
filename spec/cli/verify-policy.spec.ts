/** The quorum of witnesses under a checkpoint, checked offline by the command and by the verifier in Python. */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { checkpointNote, checkpointText, verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureLine, cosignedMessage, cosignerKeyText } from '../../engine/checkpoints/cosignature.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { run } from './command-runner.ts'

const root = temporaryDirectory()
tap.teardown(() => rmSync(root, { recursive: true }))
const log = new SigningKey(Buffer.alloc(32, 1))
const witnesses = [11, 12, 13].map((seed) => new SigningKey(Buffer.alloc(32, seed)))
const statement = { origin: 'log.example/x', size: 70, root: Buffer.alloc(32, 5) }
const KEY = verifierKeyText(statement.origin, log.publicKey)
const POLICY = [
  '# three of them',
  ...witnesses.map((key, at) => `witness w${at} ${cosignerKeyText(`w.example/${at}`, key.publicKey)}`),
  'group two 2 w0 w1 w2',
  'quorum two',
  '',
].join('\n')

function cosigned(at: number, text = checkpointText(statement)): string {
  const key = witnesses[at] as SigningKey
  const seconds = 1_767_225_600
  const signature = key.sign(cosignedMessage(seconds, text))
  return cosignatureLine(`w.example/${at}`, key.publicKey, { seconds, signature })
}

function fileOf(name: string, text: string): string {
  const path = join(root, name)
  writeFileSync(path, text)
  return path
}

const note = checkpointNote(statement, log.publicKey, log.sign(checkpointText(statement)))
const policy = fileOf('policy', POLICY)

function byPython(...words: readonly string[]) {
  return spawnSync('python3', ['spec/formats/verify_checkpoint.py', ...words], { encoding: 'utf8' })
}

test('T10 both verifiers count the same cosignatures', async (t) => {
  const cases: readonly (readonly [readonly string[], boolean])[] = [
    [[], false],
    [[cosigned(0)], false],
    [[cosigned(0), cosigned(0)], false],
    [[cosigned(0), cosigned(2)], true],
    [[cosigned(0), cosigned(1), cosigned(2)], true],
    [[cosigned(0), cosigned(1, Buffer.from('other\n'))], false],
    [[cosigned(0), cosigned(1), cosigned(1, Buffer.from('other\n'))], false],
  ]
  for (const [at, [lines, isEnough]] of cases.entries()) {
    const file = fileOf(`note-${at}`, note + lines.join(''))
    const outcome = await run(['checkpoint', 'verify', file, '--key', KEY, '--policy', policy])
    t.match(outcome, { exitCode: isEnough ? 0 : 8, stdout: new RegExp(`witnesses: ${isEnough ? 'passed' : 'failed'}`) })
    t.match(byPython(file, '--key', KEY, '--policy', policy), {
      status: isEnough ? 0 : 1,
      stdout: new RegExp(`witnesses: ${isEnough ? 'passed' : 'failed'}`),
    })
  }
  const whole = await run(['checkpoint', 'verify', join(root, 'note-3'), '--key', KEY, '--policy', policy])
  t.match(whole.stdout, /w0 at 2026-01-01T00:00:00.000Z, w2 at 2026-01-01T00:00:00.000Z; not by w1/)
  const keyless = await run(['checkpoint', 'verify', join(root, 'note-3'), '--policy', policy])
  t.equal(keyless.exitCode, 9, 'witnesses do not stand in for the signature of the log')
})

test('a policy with a fault is told by both', async (t) => {
  const file = join(root, 'note-3')
  for (const text of ['hello\n', POLICY.replace('quorum two', ''), POLICY.replace('2 w0', '4 w0')]) {
    const bad = fileOf('bad', text)
    t.match(await run(['checkpoint', 'verify', file, '--key', KEY, '--policy', bad]), {
      exitCode: 2,
      stderr: /--policy: /,
    })
    t.match(byPython(file, '--key', KEY, '--policy', bad), { status: 1, stdout: /^failed: / })
  }
})
