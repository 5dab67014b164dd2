/** Proofs of inclusion and consistency as text: C2SP tlog-proof, and the body of a request to a witness (C2SP tlog-witness). */
import { CheckpointNoteError } from './checkpoint-note.ts'

const INCLUSION = 'c2sp.org/tlog-proof@v1'
const HASH_BYTES = 32
/** A path is no longer than the height of a tree of 2^63 leaves. */
const PATH_MAXIMUM = 63
const PROOF_BYTES_MAXIMUM = 128 * 1024

/** A proof with the checkpoint that it leads to. `number`: index of the record, or size of the older tree. */
interface TreeProof {
  readonly number: number
  readonly path: readonly Buffer[]
  readonly note: string
}

export function inclusionProofText(index: number, path: readonly Uint8Array[], note: string): string {
  return [INCLUSION, `index ${index}`, ...path.map(base64), '', note].join('\n')
}

export function consistencyProofText(old: number, path: readonly Uint8Array[], note: string): string {
  return [`old ${old}`, ...path.map(base64), '', note].join('\n')
}

/** @throws CheckpointNoteError */
export function readInclusionProof(text: string): TreeProof {
  return readProof(text, [INCLUSION], 'index')
}

/** @throws CheckpointNoteError */
export function readConsistencyProof(text: string): TreeProof {
  return readProof(text, [], 'old')
}

function readProof(text: string, head: readonly string[], word: string): TreeProof {
  const lines = linesBefore(text, head.length + 1 + PATH_MAXIMUM)
  const [, digits] = new RegExp(`^${word} (0|[1-9]\\d{0,15})$`).exec(lines[head.length] ?? '') ?? []
  const path = lines.slice(head.length + 1).map((line) => Buffer.from(line, 'base64'))
  const isWhole =
    head.every((line, at) => lines[at] === line) &&
    path.every((hash, at) => hash.length === HASH_BYTES && base64(hash) === lines[head.length + 1 + at])
  const number = Number(digits)
  if (digits === undefined || !Number.isSafeInteger(number) || !isWhole) {
    throw new CheckpointNoteError('the text is not a proof of this kind')
  }
  return { number, path, note: text.slice(text.indexOf('\n\n') + 2) }
}

/** The lines before the first empty one; none when they are more than `most`, which is found without splitting the others. */
function linesBefore(text: string, most: number): string[] {
  if (text.length > PROOF_BYTES_MAXIMUM) return []
  const lines: string[] = []
  for (let start = 0; lines.length < most; ) {
    const end = text.indexOf('\n', start)
    if (end < 0) return []
    lines.push(text.slice(start, end))
    if (text[end + 1] === '\n') return lines
    start = end + 1
  }
  return []
}

function base64(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64')
}
