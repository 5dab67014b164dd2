/**
 * Memory for request chunks that have to wait, used again and again: fresh memory costs a page fault every 4 KiB.
 */

/** The longest chunk that the library hands over. */
const SLAB_BYTES = 512 * 1024

/** Shorter chunks do not come from full reads and are not worth a slab. */
const SLAB_WORTHY_BYTES = 64 * 1024

/** Slabs kept by a thread when nobody needs them. */
const SPARE_SLABS_MAXIMUM = 32

const spare: Buffer[] = []

/**
 * A copy of `source`, to be given back with `releaseChunk`.
 * @param waits whether more must come before anybody takes it. What may wait long is not taken from the platform's pool, all of
 *   which it would keep from being freed.
 */
export function copyChunk(source: Buffer, waits: boolean): Buffer {
  if (source.length < SLAB_WORTHY_BYTES || source.length > SLAB_BYTES) {
    const copy = waits ? Buffer.allocUnsafeSlow(source.length) : Buffer.allocUnsafe(source.length)
    copy.set(source)
    return copy
  }
  const slab = spare.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES)
  slab.set(source)
  return slab.subarray(0, source.length)
}

/** The bytes of a copy in memory that nobody gives back. */
export function keepChunk(copy: Buffer): Buffer {
  if (copy.buffer.byteLength !== SLAB_BYTES) return copy
  const kept = Buffer.from(copy)
  releaseChunk(copy)
  return kept
}

/** Takes back what `copyChunk` gave; its bytes are overwritten by a later chunk. */
export function releaseChunk(copy: Buffer): void {
  if (copy.buffer.byteLength !== SLAB_BYTES || spare.length >= SPARE_SLABS_MAXIMUM) return
  spare.push(Buffer.from(copy.buffer, 0, SLAB_BYTES))
}
