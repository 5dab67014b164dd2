/** Journals with checkpoints, built from the page, so that a spec can have one thing in them wrong. */
import { hash } from 'node:crypto'
import { SigningKey } from '../../../engine/keys/signing-key.ts'
import { checkpointNote, checkpointText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { handoverText, type SignedHandover } from '../../../engine/checkpoints/key-handover.ts'
import { treeRoot } from '../proofs/audit-tree.ts'
import { type BuilderOptions, JournalBuilder } from './journal-builder.ts'

const KEY = new SigningKey(Buffer.alloc(32, 9))

/** What an entry says, before it is signed. */
export interface Stated {
  size: number
  root: Buffer
  bundleRoot: Buffer
  previous: Buffer
  origin: string
  key: SigningKey
}

/** What a hand-over says, and who signs that it does. */
export interface StatedHandover {
  origin: string
  generation: number
  oldKey: SigningKey
  newKey: SigningKey
  size: number
  root: Buffer
  signers: readonly [byOld: SigningKey, byNew: SigningKey]
}

function digest(prefix: number, ...parts: readonly Uint8Array[]): Buffer {
  return hash('sha256', Buffer.concat([Buffer.of(prefix), ...parts]), 'buffer')
}

/** The root of RFC 6962 over record hashes, level by level. */
export function logRoot(hashes: readonly Uint8Array[]): Buffer {
  let level = hashes.map((each) => digest(0, each))
  while (level.length > 1) {
    level = level.flatMap((left, at) => {
      const right = level[at + 1]
      if (at % 2 === 1) return []
      return [right === undefined ? left : digest(1, left, right)]
    })
  }
  return level[0] as Buffer
}

/** A journal that signs what it holds. */
export class SignedJournal {
  readonly builder: JournalBuilder
  readonly origin: string
  readonly key = KEY
  /** Of all records, by sequence. */
  readonly #hashes: Buffer[] = []
  #last: Buffer = Buffer.alloc(32)
  #lastStated: Pick<Stated, 'size' | 'root' | 'origin' | 'key'> | undefined
  #handovers = 0

  constructor(options: BuilderOptions = {}) {
    this.builder = new JournalBuilder(options)
    this.origin = `spec.log/${this.builder.deploymentId.toString('hex')}`
    this.#note()
  }

  get size(): number {
    return this.builder.nextSequence
  }

  hashes(size: number): Buffer[] {
    return this.#hashes.slice(0, size)
  }

  /** Audit records, each in a batch of its own. */
  records(count: number, operation = 's3:GET'): this {
    for (let at = 0; at < count; at += 1) {
      this.builder.entries({ result: 1, operation })
      this.#note()
    }
    return this
  }

  seal(): this {
    this.builder.seal()
    this.#note()
    return this
  }

  /** An entry that signs the first `size` records, or says something else. */
  sign(size = this.size, alter: (stated: Stated) => void = () => undefined, cut?: 'short'): this {
    const covered = this.hashes(size)
    const stated: Stated = {
      size,
      root: covered.length === 0 ? Buffer.alloc(32) : logRoot(covered),
      bundleRoot: covered.length === 0 ? Buffer.alloc(32) : Buffer.from(treeRoot(covered), 'hex'),
      previous: this.#last,
      origin: this.origin,
      key: KEY,
    }
    alter(stated)
    const { key, root, bundleRoot, previous, origin } = stated
    const signature = key.sign(checkpointText({ origin, size: stated.size, root }))
    const change = [47, stated.size, root, bundleRoot, previous, origin, key.publicKey, signature]
    const changes = [cut === undefined ? change : change.slice(0, -1)]
    this.builder.entries({ result: 1, principal: 'system:checkpoints', operation: 'checkpoint.sign', changes })
    this.#note()
    this.#last = this.builder.lastHash
    this.#lastStated = stated
    return this
  }

  /** An attempt, and the entry by which the key of the last checkpoint hands over, or that says something else. Returns that. */
  handOver(
    newKey: SigningKey,
    alter: (stated: StatedHandover) => void = () => undefined,
    cut?: 'short',
  ): SignedHandover {
    const last = this.#lastStated ?? { size: 1, root: Buffer.alloc(32), origin: this.origin, key: KEY }
    this.#handovers += 1
    const { origin, size, root, key: oldKey } = last
    const stated = {
      origin,
      size,
      root,
      oldKey,
      newKey,
      generation: this.#handovers,
      signers: [oldKey, newKey] as const,
    }
    alter(stated)
    const [old, next] = [stated.oldKey.publicKey, stated.newKey.publicKey]
    const text = handoverText({
      origin: stated.origin,
      size: stated.size,
      root: stated.root,
      oldKey: old,
      newKey: next,
    })
    const [oldSignature, newSignature] = stated.signers.map((signer) => signer.sign(text)) as [Buffer, Buffer]
    const said = { ...stated, oldKey: old, newKey: next, oldSignature, newSignature }
    const { generation } = stated
    const change = [56, said.origin, generation, old, next, said.size, said.root, oldSignature, newSignature]
    const changes = [cut === undefined ? change : change.slice(0, -1)]
    const attempt = { operation: 'management:rotateCheckpointKey', resource: 'log' }
    const intentSequence = this.size
    this.builder.entries({ ...attempt, result: 0 })
    this.#note()
    this.builder.entries({ ...attempt, result: 1, intentSequence, changes })
    this.#note()
    return said
  }

  /** The checkpoint of a size as a text that somebody keeps. */
  note(size = this.size, key = KEY, origin = this.origin): string {
    const statement = { origin, size, root: logRoot(this.hashes(size)) }
    return checkpointNote(statement, key.publicKey, key.sign(checkpointText(statement)))
  }

  /** Keeps the hash of the record that was just written. */
  #note(): void {
    this.#hashes.push(this.builder.lastHash)
  }
}
