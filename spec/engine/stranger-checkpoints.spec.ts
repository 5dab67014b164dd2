/** The verifier of checkpoints in Python, which shares no code with the store: what it takes, and what it does not. */
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { test } from 'tap'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { checkpointNote, checkpointText, verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { consistencyProofText, inclusionProofText } from '../../engine/checkpoints/tree-proofs.ts'
import { consistencyPath, inclusionPath, treeRoot } from '../../engine/checkpoints/tree-shape.ts'

const SIZE_MAXIMUM = 70
const ORIGIN = 'store.example/00'
const KEY = new SigningKey(Buffer.alloc(32, 7))
const RECORDS = Array.from({ length: SIZE_MAXIMUM }, (_, index) => hash('sha256', `record ${index}`, 'buffer'))
const NODES = { hashing: LOG_HASHING, node: apex }
const NOTES = Array.from({ length: SIZE_MAXIMUM + 1 }, (_, size) => (size === 0 ? '' : noteOf(size)))

/** Runs `verify` of the verifier for each case; the results in order, `failed` for a text of another form. */
const PROGRAM = `
import json, sys
sys.path.insert(0, "spec/formats")
from verify_checkpoint import Malformed, verify
def judge(case):
    record = case.pop("record", None)
    try:
        return verify(record=record and bytes.fromhex(record), **case)
    except Malformed as error:
        return {"form": "failed", "reason": str(error)}
print(json.dumps([judge(case) for case in json.load(sys.stdin)]))
`

/** What the verifier is given: texts of files, and the hash of a record in hexadecimal. */
interface Case {
  readonly checkpoint: string
  readonly key?: string
  readonly old?: string
  readonly consistency?: string
  readonly inclusion?: string
  readonly record?: string
}

function apex(height: number, index: number): Buffer {
  if (height === 0) return LOG_HASHING.leaf(RECORDS[index] as Buffer)
  return LOG_HASHING.node(apex(height - 1, index * 2), apex(height - 1, index * 2 + 1))
}

function noteOf(size: number): string {
  const statement = { origin: ORIGIN, size, root: treeRoot(NODES, size) }
  return checkpointNote(statement, KEY.publicKey, KEY.sign(checkpointText(statement)))
}

function verdicts(cases: readonly Case[]): Record<string, string>[] {
  const { stdout, stderr, status } = spawnSync('python3', ['-B', '-c', PROGRAM], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Record<string, string>[]
}

function inclusionOf(size: number, index: number, path = inclusionPath(NODES, index, size)): Case {
  const checkpoint = NOTES[size] as string
  const record = RECORDS[index]?.toString('hex') ?? ''
  return { checkpoint, inclusion: inclusionProofText(index, path, checkpoint), record }
}

function consistencyOf(old: number, size: number, path = consistencyPath(NODES, old, size)): Case {
  const checkpoint = NOTES[size] as string
  return { checkpoint, old: NOTES[old] as string, consistency: consistencyProofText(old, path, checkpoint) }
}

/** A path with one bit turned, without its last hash, and with one more. */
function spoiled(path: readonly Buffer[]): Buffer[][] {
  const others = [[...path, Buffer.alloc(32)]]
  if (path.length === 0) return others
  const turned = path.map((one) => Buffer.from(one))
  const at = turned.length >> 1
  turned[at]![31]! ^= 1
  return [...others, path.slice(0, -1), turned]
}

const isPassed = (name: string) => (verdict: Record<string, string>) => verdict[name] === 'passed'
const sizes = (from: number) => Array.from({ length: SIZE_MAXIMUM + 1 - from }, (_, index) => from + index)

test('T6 a stranger proves every record in every tree, and none with a proof that was changed', async (t) => {
  const right = sizes(1).flatMap((size) =>
    sizes(1).flatMap((index) => (index > size ? [] : inclusionOf(size, index - 1))),
  )
  t.same(
    verdicts(right).filter((verdict) => !isPassed('inclusion')(verdict)),
    [],
    `${right.length} proofs`,
  )
  const wrong = sizes(1).flatMap((size) => {
    const index = Math.floor(size * 0.6)
    const proof = inclusionOf(size, index)
    const another = { ...proof, record: hash('sha256', 'another record') }
    const next = inclusionOf(size, (index + 1) % size, inclusionPath(NODES, index, size))
    const moved = { ...next, record: proof.record as string }
    const elsewhere = { ...proof, checkpoint: NOTES[size === SIZE_MAXIMUM ? 1 : size + 1] as string }
    const paths = spoiled(inclusionPath(NODES, index, size)).map((path) => inclusionOf(size, index, path))
    return [another, elsewhere, ...(size > 1 ? [moved] : []), ...paths]
  })
  t.same(verdicts(wrong).filter(isPassed('inclusion')), [], `${wrong.length} forged proofs`)
})

test('T6 a stranger proves that every tree extends every earlier one, and nothing that does not', async (t) => {
  const pairs = sizes(1).flatMap((size) => sizes(1).flatMap((old) => (old > size ? [] : [[old, size] as const])))
  const right = pairs.map(([old, size]) => consistencyOf(old, size))
  t.same(
    verdicts(right).filter((verdict) => !isPassed('extends')(verdict)),
    [],
    `${right.length} pairs`,
  )
  const wrong = pairs.flatMap(([old, size]) => {
    const path = consistencyPath(NODES, old, size)
    const other = { ...consistencyOf(old, size), old: NOTES[old === 1 ? 2 : old - 1] as string }
    return [other, ...spoiled(path).map((changed) => consistencyOf(old, size, changed))]
  })
  t.same(verdicts(wrong).filter(isPassed('extends')), [], `${wrong.length} forged proofs`)
  const backwards = { ...consistencyOf(3, 7), checkpoint: NOTES[3] as string, old: NOTES[7] as string }
  t.same(verdicts([backwards]).filter(isPassed('extends')), [], 'an earlier tree extends no later one')
})

test('T10 both checkpoints must be signed by the key that was kept', async (t) => {
  const key = verifierKeyText(ORIGIN, KEY.publicKey)
  const stranger = new SigningKey(Buffer.alloc(32, 8))
  const statement = { origin: ORIGIN, size: 3, root: treeRoot(NODES, 3) }
  const forged = checkpointNote(statement, stranger.publicKey, stranger.sign(checkpointText(statement)))
  const [signed, strange, unknown] = verdicts([
    { ...consistencyOf(3, 7), key },
    { ...consistencyOf(3, 7), old: forged, key },
    consistencyOf(3, 7),
  ])
  t.same(signed, { signature: 'passed', 'signature of the earlier one': 'passed', extends: 'passed' })
  t.same(strange, { signature: 'passed', 'signature of the earlier one': 'failed', extends: 'passed' })
  t.match(unknown, { signature: 'not proved', extends: 'passed' })
})
