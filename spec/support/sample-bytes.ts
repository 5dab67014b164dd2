/** Bytes for objects of specs: different at every offset, the same on every run. */
export function sampleBytes(length: number, seed = 1): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let index = 0; index < words.length; index += 1) words[index] = Math.imul(index + seed, 2_654_435_761)
  return Buffer.from(words.buffer, 0, length)
}
