/** The matrix: every form of body in chunks, whole and spoiled in every way, to each operation that takes them. */
import { CHUNK_FORMS, type ChunkForm } from '../../../support/chunked-requests.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { BODY_SPOILINGS } from './of-bodies.ts'
import { HEAD_SPOILINGS } from './of-heads.ts'
import { type ChunkTarget, type SpoiledChunks, WholeChunks } from './spoiling.ts'

export interface ChunkCase extends SpoiledChunks {
  readonly target: ChunkTarget
  /** The operation, the form, the size, and how it was spoiled. */
  readonly kinds: readonly string[]
}

interface Signer {
  readonly accessKey: string
  readonly secretKey: string
}

const CHUNK_BYTES = 8192
/** One that travels with its command, and one that goes to a file. */
const SIZES: readonly number[] = [20_000, 100_000]

function wholesOf(
  targets: readonly ChunkTarget[],
  host: string,
  signer: Signer,
  sizes: readonly number[],
): readonly (readonly [ChunkTarget, WholeChunks])[] {
  return targets.flatMap((target) =>
    CHUNK_FORMS.flatMap((form: ChunkForm) =>
      sizes.map((size) => {
        const { path, query } = target
        return [
          target,
          new WholeChunks({ ...signer, form, path, query, host, payload: sampleBytes(size), chunkBytes: CHUNK_BYTES }),
        ] as const
      }),
    ),
  )
}

/** What must be refused. */
export function spoiledChunks(
  targets: readonly ChunkTarget[],
  host: string,
  signer: Signer,
  sizes = SIZES,
): ChunkCase[] {
  return wholesOf(targets, host, signer, sizes).flatMap(([target, whole]) =>
    [...BODY_SPOILINGS, ...HEAD_SPOILINGS].flatMap((spoiling) =>
      spoiling(whole).map((spoiled) => {
        const kinds = [target.name, whole.form, `${whole.options.payload.length} bytes`, spoiled.name]
        return { ...spoiled, name: kinds.join(' / '), target, kinds }
      }),
    ),
  )
}

/** What must pass: without this nothing would be shown by what is refused. */
export function wholeChunks(targets: readonly ChunkTarget[], host: string, signer: Signer, sizes = SIZES) {
  return wholesOf(targets, host, signer, sizes).map(([target, whole]) => ({
    target,
    name: [target.name, whole.form, `${whole.options.payload.length} bytes`, 'whole'].join(' / '),
    whole,
  }))
}
