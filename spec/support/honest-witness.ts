/** A witness of transparency logs (C2SP tlog-witness), with its own code for trees, and without a connection. */
import { createHash } from 'node:crypto'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { isSignedBy, readCheckpointNote, readVerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureLine, cosignedMessage, cosignerKeyText } from '../../engine/checkpoints/cosignature.ts'

/** What it cosigned last, by the origin of the log; the root in base64. */
export type WitnessMemory = Record<string, { readonly size: number; readonly root: string }>

export interface WitnessAnswer {
  readonly status: number
  readonly contentType?: string
  readonly text?: string
}

interface WitnessParts {
  readonly name: string
  /** Every byte of its seed. */
  readonly seed: number
  readonly memory: WitnessMemory
  /** vkey of a log, once it is known. */
  readonly logKey: () => string
  readonly seconds: () => number
}

/** A submission to a witness. */
export interface Submission {
  readonly old: number
  readonly size: number
  readonly lines: readonly string[]
  readonly note: string
}

export function readSubmission(body: string): Submission {
  const split = body.indexOf('\n\n')
  const [head = '', ...lines] = body.slice(0, split).split('\n')
  const note = body.slice(split + 2)
  return { old: Number(head.slice('old '.length)), size: readCheckpointNote(note).size, lines, note }
}

export class HonestWitness {
  readonly vkey: string
  readonly memory: WitnessMemory
  readonly #key: SigningKey
  readonly #parts: WitnessParts

  constructor(parts: WitnessParts) {
    this.#parts = parts
    this.#key = new SigningKey(Buffer.alloc(32, parts.seed))
    this.memory = parts.memory
    this.vkey = cosignerKeyText(parts.name, this.#key.publicKey)
  }

  /** A line over a note, as the witness makes it. */
  cosign(note: string, seconds = this.#parts.seconds(), name = this.#parts.name): string {
    const signature = this.#key.sign(cosignedMessage(seconds, readCheckpointNote(note).text))
    return cosignatureLine(name, this.#key.publicKey, { seconds, signature })
  }

  answer({ old, lines, note }: Submission): WitnessAnswer {
    const { origin, size, root } = readCheckpointNote(note)
    const vkey = readVerifierKey(this.#parts.logKey())
    if (vkey.name !== origin) return { status: 404 }
    if (!isSignedBy(readCheckpointNote(note), vkey)) return { status: 403 }
    const had = this.memory[origin] ?? { size: 0, root: sha256().toString('base64') }
    if (old > size) return { status: 400 }
    if (old !== had.size) return { status: 409, contentType: 'text/x.tlog.size', text: `${had.size}\n` }
    const next = { size, root: Buffer.from(root).toString('base64') }
    if (!extendsTree(had, next, lines)) return { status: 422 }
    this.memory[origin] = next
    return { status: 200, text: this.cosign(note) }
  }
}

/** The root over record hashes by the recursive definition of RFC 6962. */
export function rootOfRecords(hashes: readonly Uint8Array[]): Buffer {
  if (hashes.length === 1) return sha256(Buffer.of(0), hashes[0] as Uint8Array)
  const split = splitOf(hashes.length)
  return nodeOf(rootOfRecords(hashes.slice(0, split)), rootOfRecords(hashes.slice(split)))
}

/** RFC 6962 section 2.1.2, read backwards: the last line is the sibling at the top. */
function extendsTree(
  had: { readonly size: number; readonly root: string },
  next: { readonly size: number; readonly root: string },
  lines: readonly string[],
): boolean {
  if (had.size === 0) return lines.length === 0 && (next.size > 0 || next.root === had.root)
  const rest = lines.map((line) => Buffer.from(line, 'base64'))
  const oldRoot = Buffer.from(had.root, 'base64')
  const rebuilt = (old: number, size: number, isWhole: boolean): readonly [Buffer, Buffer] => {
    if (old === size) {
      const top = isWhole ? oldRoot : (rest.pop() ?? Buffer.alloc(32))
      return [top, top]
    }
    const split = splitOf(size)
    const top = rest.pop() ?? Buffer.alloc(32)
    if (old <= split) {
      const [before, after] = rebuilt(old, split, isWhole)
      return [before, nodeOf(after, top)]
    }
    const [before, after] = rebuilt(old - split, size - split, false)
    return [nodeOf(top, before), nodeOf(top, after)]
  }
  const [before, after] = rebuilt(had.size, next.size, true)
  return rest.length === 0 && before.equals(oldRoot) && after.toString('base64') === next.root
}

function splitOf(count: number): number {
  let split = 1
  while (split * 2 < count) split *= 2
  return split
}

function nodeOf(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.of(1), left, right)
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
