/**
 * Compares keys by their bytes in UTF-8, which is the order of code points. JavaScript compares UTF-16 code units,
 * which order differently above U+D800.
 */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)]
    if (one !== other) return rank(one) - rank(other)
  }
  return left.length - right.length
}

/** Surrogates encode code points above all others. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit <= 0xdfff ? unit + 0x2000 : unit - 0x800
}
