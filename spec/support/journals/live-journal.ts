/**
 * A journal that is written while others read it, in the order of operations that `spec/formats/journal.md` gives: batches
 * in pieces into zeros, marks, seals, cuts, new segments. It stands for the server in specs of readers.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { JournalBuilder } from './journal-builder.ts'

const SEGMENT_BYTES = 256 * 1024
const RECORDS_MAXIMUM = 7

export class LiveJournal {
  readonly directory: string
  readonly #journal = new JournalBuilder()
  #stopped = false

  constructor(directory: string) {
    this.directory = directory
    mkdirSync(directory, { recursive: true })
    this.#writeSegment()
    writeFileSync(join(directory, 'HEAD'), Buffer.alloc(8192))
  }

  get segments(): number {
    return this.#journal.segments.length
  }

  get lastSequence(): number {
    return this.#journal.nextSequence - 1
  }

  stop(): void {
    this.#stopped = true
  }

  /** Writes until it is stopped, giving way to others between any two pieces. */
  async run(): Promise<void> {
    for (let round = 0; !this.#stopped; round += 1) {
      const path = join(this.directory, this.#journal.open.name)
      const batch = this.#journal.entries(...Array.from({ length: 1 + (round % RECORDS_MAXIMUM) }, () => ({})))
      await writeInPieces(path, this.#journal.open.bytes.subarray(batch.offset), batch.offset, round)
      if (round % 10 === 0) this.#mark()
      if (this.#journal.open.length < SEGMENT_BYTES * 0.9) continue
      const { open } = this.#journal
      const length = open.length
      this.#journal.seal()
      await writeInPieces(path, open.bytes.subarray(length), length, round)
      await setImmediate()
      const file = openSync(path, 'r+')
      ftruncateSync(file, open.length)
      closeSync(file)
      await setImmediate()
      this.#writeSegment()
    }
  }

  /** The open segment, complete with zeros, gets its name when it is there. */
  #writeSegment(): void {
    const { name, bytes } = this.#journal.open
    const spare = join(this.directory, 'spare')
    writeFileSync(spare, Buffer.concat([bytes, Buffer.alloc(SEGMENT_BYTES - bytes.length)]))
    renameSync(spare, join(this.directory, name))
  }

  #mark(): void {
    const slot = this.#journal.headSlot()
    const file = openSync(join(this.directory, 'HEAD'), 'r+')
    writeSync(file, slot, 0, slot.length, (Number(slot.readBigUInt64BE(8)) % 2) * slot.length)
    closeSync(file)
  }
}

/** Writes bytes in two pieces, in turn the first or the second one first, and lets readers look in between. */
async function writeInPieces(path: string, bytes: Buffer, offset: number, round: number): Promise<void> {
  const middle = 8 + ((round * 37) % (bytes.length - 8))
  const pieces = [
    { piece: bytes.subarray(0, middle), at: offset },
    { piece: bytes.subarray(middle), at: offset + middle },
  ]
  const file = openSync(path, 'r+')
  for (const { piece, at } of round % 2 === 0 ? pieces : pieces.toReversed()) {
    writeSync(file, piece, 0, piece.length, at)
    await setImmediate()
  }
  closeSync(file)
}
