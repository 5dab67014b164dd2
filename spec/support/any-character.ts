import * as fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any character as a text. fast-check's own unit `binary` means the same, but makes a map of 1.1 million texts before the first
 * one: a second in each process.
 */
export const anyCharacter = fc
  .nat({ max: 0x10_ffff - SURROGATES.count })
  .map((point) => String.fromCodePoint(point < SURROGATES.first ? point : point + SURROGATES.count))
