/** What a store must answer and hold, kept beside it in memory; and random commands for both. */
import * as fc from 'fast-check'
import type { Command, WriteCondition } from '../../engine/commands.ts'
import { copyObject, createBucket, deleteBucket, deleteObject, md5Of, write, writeFile } from './commands.ts'
import { storeFile, type TestStore } from './test-store.ts'

export interface ModelObject {
  readonly bytes: Buffer
  readonly sequence: number
  readonly headers: readonly string[]
  /** Objects with the same one share their bytes; undefined for no bytes. */
  readonly payload: number | undefined
}

const BUCKETS = ['first', 'second'] as const
const KEYS = ['a', 'a/b', 'ä', 'z'.repeat(1024)] as const

/** A command to be, before the state that it meets is known. */
export type Step =
  | { readonly kind: 'create-bucket' | 'delete-bucket'; readonly bucket: string }
  | {
      readonly kind: 'write'
      readonly bucket: string
      readonly key: string
      readonly size: number
      readonly inFile: boolean
      readonly condition: 'none' | 'absent' | 'exists' | 'matches' | 'mismatches'
    }
  | { readonly kind: 'delete'; readonly bucket: string; readonly key: string }
  | {
      readonly kind: 'copy'
      readonly from: { readonly bucket: string; readonly key: string }
      readonly to: { readonly bucket: string; readonly key: string }
      readonly replaces: boolean
    }

const bucket = fc.constantFrom(...BUCKETS)
const key = fc.constantFrom(...KEYS)
const place = fc.record({ bucket, key })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('create-bucket' as const), bucket }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete-bucket' as const), bucket }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      bucket,
      key,
      size: fc.oneof(fc.constant(0), fc.nat({ max: 3000 })),
      inFile: fc.boolean(),
      condition: fc.constantFrom('none', 'none', 'none', 'absent', 'exists', 'matches', 'mismatches'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), bucket, key }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('copy' as const), from: place, to: place, replaces: fc.boolean() }),
  },
)

/** Groups of commands; those of a group are sent at once. It begins with the buckets, so that most of it succeeds. */
export const history: fc.Arbitrary<Step[][]> = fc
  .array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 8 })
  .map((groups) => [BUCKETS.map((name) => ({ kind: 'create-bucket' as const, bucket: name })), ...groups])

const REPLACEMENT = { headers: ['content-type', 'replaced'], metadata: [] }

export class StoreModel {
  readonly buckets = new Map<string, Map<string, ModelObject>>()
  /** Bytes that were put into payload files, by their ETag. */
  readonly #inFiles = new Map<string, Buffer>()
  #seed = 0

  /** Carries a group out on a store and here, and returns what differs in the replies. */
  async run(store: TestStore, group: readonly Step[]): Promise<string[]> {
    const commands = await Promise.all(group.map((one) => this.#commandOf(store, one)))
    const replies = await Promise.all(
      commands.map((command) =>
        store.client.execute(command).then(
          ({ sequence }) => ({ sequence, outcome: 'done' }),
          (error: { code?: string; message: string }) => ({ sequence: 0, outcome: error.code ?? error.message }),
        ),
      ),
    )
    return replies.flatMap(({ outcome, sequence }, index) => {
      const expected = this.#apply(commands[index] as Command, sequence)
      return outcome === expected ? [] : [`${JSON.stringify(group[index])}: ${outcome} instead of ${expected}`]
    })
  }

  object(at: { readonly bucket: string; readonly key: string }): ModelObject | undefined {
    return this.buckets.get(at.bucket)?.get(at.key)
  }

  #bytes(size: number): Buffer {
    this.#seed += 1
    return Buffer.from(`${this.#seed}|`.repeat(Math.ceil(size / 2)).slice(0, size))
  }

  async #commandOf(store: TestStore, one: Step): Promise<Command> {
    switch (one.kind) {
      case 'create-bucket':
        return createBucket(one.bucket)
      case 'delete-bucket':
        return deleteBucket(one.bucket)
      case 'delete':
        return deleteObject(one.bucket, one.key)
      case 'copy': {
        const sequence = this.object(one.from)?.sequence ?? 1
        return copyObject({ ...one.from, sequence }, one.to, one.replaces ? REPLACEMENT : undefined)
      }
      case 'write': {
        const bytes = this.#bytes(one.size)
        const etag = one.condition === 'matches' ? md5Of(this.object(one)?.bytes ?? bytes) : 'f'.repeat(32)
        const condition: WriteCondition =
          one.condition === 'matches' || one.condition === 'mismatches'
            ? { kind: 'matches', etags: ['0'.repeat(32), etag] }
            : { kind: one.condition }
        if (!one.inFile || one.size === 0) return write(one.bucket, one.key, bytes, condition)
        this.#inFiles.set(md5Of(bytes), bytes)
        return { ...writeFile(one.bucket, one.key, bytes, await storeFile(store, bytes)), condition }
      }
    }
  }

  /** The outcome, by the rules as S3 has them, not by the engine's code. */
  #apply(command: Command, sequence: number): string {
    if (!('bucket' in command)) return 'done'
    const objects = this.buckets.get(command.bucket)
    if (command.kind === 'create-bucket') {
      // The same bucket once more is a success in this region.
      if (objects !== undefined) return 'done'
      this.buckets.set(command.bucket, new Map())
      return 'done'
    }
    if (command.kind === 'copy-object') return this.#copy(command, sequence)
    if (objects === undefined) return 'bucket-not-found'
    if (command.kind === 'delete-bucket') {
      if (objects.size > 0) return 'bucket-not-empty'
      this.buckets.delete(command.bucket)
      return 'done'
    }
    if (command.kind === 'delete-object') {
      objects.delete(command.key)
      return 'done'
    }
    if (command.kind !== 'write-object') throw new Error(`no rule for ${command.kind}`)
    const current = objects.get(command.key)
    const { condition } = command
    if (condition.kind === 'absent' && current !== undefined) return 'precondition-failed'
    if ((condition.kind === 'exists' || condition.kind === 'matches') && current === undefined)
      return 'object-not-found'
    if (condition.kind === 'matches' && !condition.etags.includes(md5Of(current?.bytes ?? Buffer.alloc(0)))) {
      return 'precondition-failed'
    }
    const bytes = this.#bytesOf(command)
    const payload = bytes.length === 0 ? undefined : sequence
    objects.set(command.key, { bytes, sequence, headers: command.headers, payload })
    return 'done'
  }

  #bytesOf(command: Extract<Command, { kind: 'write-object' }>): Buffer {
    if (command.body.kind === 'inline') return Buffer.from(command.body.bytes)
    return this.#inFiles.get(command.etag) ?? Buffer.alloc(0)
  }

  #copy(command: Extract<Command, { kind: 'copy-object' }>, sequence: number): string {
    const sources = this.buckets.get(command.sourceBucket)
    if (sources === undefined) return 'bucket-not-found'
    const source = sources.get(command.sourceKey)
    if (source === undefined) return 'object-not-found'
    if (source.sequence !== command.sourceSequence) return 'source-changed'
    const objects = this.buckets.get(command.bucket)
    if (objects === undefined) return 'bucket-not-found'
    const same = command.bucket === command.sourceBucket && command.key === command.sourceKey
    if (same && command.replacement === undefined) return 'copy-onto-itself'
    const { bytes, payload } = source
    objects.set(command.key, { bytes, sequence, payload, headers: command.replacement?.headers ?? source.headers })
    return 'done'
  }
}
