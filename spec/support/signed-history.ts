/** What a journal says it signed, held against trees that are made here, from the words of RFC 6962 and the specification alone. */
import { createHash } from 'node:crypto'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import { decodeEntry } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'
import {
  checkpointNote,
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'

/** A checkpoint of a journal. */
interface SignedEntry extends ChangeNamed<'checkpoint.signed'> {
  readonly sequence: number
}

interface SignedHistory {
  readonly signed: readonly SignedEntry[]
  readonly hashes: readonly Buffer[]
  /** What is wrong with what was signed. */
  readonly faults: readonly string[]
}

/** A tree that only grows: complete subtrees from the left, the largest first. */
class GrowingTree {
  readonly #domain: string
  readonly #peaks: { readonly leaves: number; readonly hash: Buffer }[] = []

  constructor(domain: string) {
    this.#domain = domain
  }

  add(recordHash: Buffer): void {
    let peak = { leaves: 1, hash: this.#hash(0, recordHash) }
    while (this.#peaks.at(-1)?.leaves === peak.leaves) {
      const left = this.#peaks.pop() as typeof peak
      peak = { leaves: 2 * peak.leaves, hash: this.#hash(1, left.hash, peak.hash) }
    }
    this.#peaks.push(peak)
  }

  apex(): Buffer {
    const [last, ...before] = this.#peaks.toReversed()
    return before.reduce((right, { hash }) => this.#hash(1, hash, right), last?.hash as Buffer)
  }

  root(): Buffer {
    return this.#domain === '' ? this.apex() : this.#hash(2, this.apex())
  }

  #hash(prefix: number, ...parts: readonly Buffer[]): Buffer {
    const state = createHash('sha256').update(this.#domain).update(Uint8Array.of(prefix))
    for (const part of parts) state.update(part)
    return state.digest()
  }
}

/** Reads a journal, and judges everything that it says was signed. @throws JournalDamagedError */
export function signedHistory(dataDirectory: string, disk: Disk = nodeDisk): SignedHistory {
  const hashes: Buffer[] = []
  const signed: SignedEntry[] = []
  readJournal(disk, new StorePaths(dataDirectory), undefined, {
    record: ({ kind, sequence, body, hash }) => {
      hashes.push(Buffer.from(hash))
      if (kind !== RECORD_KIND.change) return
      for (const change of decodeEntry(Buffer.from(body)).changes) {
        if (change.name === 'checkpoint.signed') signed.push({ ...change, sequence })
      }
    },
    batch: () => undefined,
  })
  return { signed, hashes, faults: faultsOf(signed, hashes) }
}

function faultsOf(signed: readonly SignedEntry[], hashes: readonly Buffer[]): string[] {
  const [log, bundle] = [new GrowingTree(''), new GrowingTree('object-store/audit-merkle/v1')]
  const faults: string[] = []
  let covered = 0
  let before: SignedEntry | undefined
  for (const entry of signed) {
    const { size, sequence, root, bundleRoot, previous } = entry
    const complain = (text: string) => faults.push(`the checkpoint of record ${sequence} ${text}`)
    if (size > sequence || size <= (before?.sequence ?? 0)) complain(`covers ${size} records`)
    const wanted = before === undefined ? Buffer.alloc(32) : hashes[before.sequence]
    if (wanted?.equals(previous) !== true) complain('does not name the one before')
    if (!hasSignature(entry)) complain('is not signed by its key')
    for (; covered < Math.min(size, hashes.length); covered += 1) {
      log.add(hashes[covered] as Buffer)
      bundle.add(hashes[covered] as Buffer)
    }
    if (covered > 0 && !log.root().equals(root)) complain('has another root of the log')
    if (covered > 0 && !bundle.root().equals(bundleRoot)) complain('has another root of bundles')
    before = entry
  }
  return faults
}

function hasSignature(entry: SignedEntry): boolean {
  const note = checkpointNote(entry, entry.publicKey, entry.signature)
  return isSignedBy(readCheckpointNote(note), readVerifierKey(verifierKeyText(entry.origin, entry.publicKey)))
}
