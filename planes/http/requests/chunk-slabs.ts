/**
 * Pool of memory for request chunks that have to wait: fresh memory costs a page fault every 4 KiB.
 */

/** The longest chunk that uWebSockets.js hands over. */
const SLAB_BYTES = 512 * 1024

/** Shorter chunks do not come from full reads and are not worth a slab. */
const SLAB_WORTHY_BYTES = 64 * 1024

/** Free slabs kept per thread. */
const SPARE_SLABS_MAXIMUM = 32

const spare: Buffer[] = []

/**
 * A copy of `source`, to be given back with `releaseChunk`.
 * @param waits whether the copy waits for more of its body. Such copies live long, so they are allocated outside
 *   Buffer's pool and do not pin it.
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

/** The bytes of a copy in memory that need not be released: a slab is copied and released. */
export function keepChunk(copy: Buffer): Buffer {
  if (copy.buffer.byteLength !== SLAB_BYTES) return copy
  const kept = Buffer.from(copy)
  releaseChunk(copy)
  return kept
}

/** Returns a copy of `copyChunk` to the pool; a later chunk overwrites its bytes. */
export function releaseChunk(copy: Buffer): void {
  if (copy.buffer.byteLength !== SLAB_BYTES || spare.length >= SPARE_SLABS_MAXIMUM) return
  spare.push(Buffer.from(copy.buffer, 0, SLAB_BYTES))
}
