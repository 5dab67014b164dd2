/** Odd, so that multiplying by it is one-to-one modulo 2^32; near the golden ratio of it, so that it spreads well. */
const SPREAD = 0x9e3779b1

/**
 * The key of the object with this number. Keys of consecutive numbers lie far apart in the order of keys, so that
 * writing them one after the other is not the easy case for an ordered index.
 * @param index from 0 to 2^32 - 1; different indexes have different keys
 */
export function objectKey(index: number): string {
  return `objects/${(Math.imul(index, SPREAD) >>> 0).toString(16).padStart(8, '0')}/payload-${index}`
}

/**
 * Numbers of objects that lie evenly over a store, in an order without a pattern.
 * @param count how many; all of them when the store has fewer
 */
export function sampleOfObjects(objects: number, count: number): number[] {
  const size = Math.min(objects, count)
  const step = objects / size
  return Array.from({ length: size }, (_, index) => Math.floor(((index * 7919) % size) * step))
}
