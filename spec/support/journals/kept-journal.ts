/** A journal that signs what it holds, on a disk, with the notes and states that a reader keeps of it. */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { STRANGER } from './journal-verdicts.ts'
import { SignedJournal } from './signed-journal.ts'

/** What a verifier printed, and its exit code. */
export interface Said {
  readonly status: number | null
  readonly said: string
}

/** Runs the verifier in Python. */
export function python(...words: readonly string[]): Said {
  const { status, stdout, stderr } = spawnSync('python3', ['-B', STRANGER, ...words], { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

/** Segments begin at 0, 12 and 42; checkpoints are of 24, 34 and 60 records. */
export const FIRST = { kept: 45, segment: 42 } as const

export function history(operation = 's3:PUT'): SignedJournal {
  return new SignedJournal()
    .records(10, operation)
    .seal()
    .records(12)
    .sign()
    .records(9)
    .sign()
    .records(6)
    .seal()
    .records(18)
    .sign()
}

/** A journal with what a reader keeps of it. */
export class KeptJournal {
  readonly root: string
  readonly journal: string
  readonly signed: SignedJournal
  readonly key: string
  #texts = 0

  constructor(root: string, signed = history()) {
    this.root = root
    this.journal = join(this.root, 'journal')
    this.signed = signed
    this.key = verifierKeyText(signed.origin, signed.key.publicKey)
    this.write()
  }

  write(signed = this.signed): void {
    rmSync(this.journal, { recursive: true, force: true })
    signed.builder.write(this.journal, signed.builder.head())
  }

  note(size: number, text?: string): string {
    this.#texts += text === undefined ? 0 : 1
    const path = join(this.root, text === undefined ? `${size}.txt` : `text-${this.#texts}.txt`)
    writeFileSync(path, text ?? this.signed.note(size))
    return path
  }

  /** A note with its state, by a whole verification. */
  state(size: number): string {
    const note = this.note(size)
    python(this.journal, '--checkpoint', note, '--key', this.key, '--keep-state')
    return note
  }

  /** The bytes of a segment of the journal on the disk, changed in place. */
  flip(segment: number, offset: number): void {
    const name = this.signed.builder.segments[segment]?.name ?? ''
    const bytes = readFileSync(join(this.journal, name))
    bytes[offset] = (bytes[offset] ?? 0) ^ 1
    writeFileSync(join(this.journal, name), bytes)
  }

  offsetOf(sequence: number): readonly [segment: number, offset: number] {
    const { segments } = this.signed.builder
    const segment = segments.findLastIndex(({ firstSequence }) => firstSequence <= sequence)
    const records = segments[segment]?.batches.flatMap((batch) => batch.records) ?? []
    return [segment, records.find((record) => record.sequence === sequence)?.offset ?? -1]
  }
}
