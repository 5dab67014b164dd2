/** Values at which readers change their minds. */

/** The words of a line. */
export function wordsOf(line: string): string[] {
  return line.split(' ')
}

function pieces(line: string): Buffer[] {
  return wordsOf(line).map((piece) => Buffer.from(piece))
}

export const EDGE_BYTES: readonly number[] = [
  ...Buffer.from(
    '\0\x01\t\n\r "#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\x7f\x80\xbf\xc0\xc2\xe0\xed\xf4\xfe\xff',
    'latin1',
  ),
]

/** Numbers at the edges of what they are kept in. */
export const EDGE_NUMBERS: readonly Buffer[] = [
  ...pieces('0 -0 -1 1 00 01 +1 1.0 1e3 0x10 255 256 999 1000 1001 10000 10001 32768 65535 65536 604800 604801'),
  ...pieces('2147483647 2147483648 4294967295 4294967296 9007199254740991 9007199254740992 9223372036854775807'),
  ...pieces('9223372036854775808 18446744073709551615 18446744073709551616 NaN Infinity'),
  Buffer.from('9'.repeat(40)),
  Buffer.from(' 1'),
  Buffer.alloc(0),
]

export const EDGE_INTEGERS: readonly bigint[] = wordsOf(
  '0 1 0x7f 0x80 0xff 0x7fff 0xffff 0x7fffffff 0xffffffff 0x20000000000000 0xffffffffffffffff',
).map(BigInt)

/** Pieces that mean something to many readers. */
export const COMMON_WORDS: readonly Buffer[] = [
  ...pieces('%00 %2F %2f %25 % %zz %C3%28 %ed%a0%80 %F0%9F%98%80 ../ .. ./ // \\ \0 \r\n \n\n * ** [] {} null true'),
  ...pieces('__proto__ constructor toString hasOwnProperty'),
  ...pieces('\ufeff \u0130 \u017f \u212a \ufffd \u2028 e\u0301 \u00e9 😀 \u00a0 \u3000 ٣'),
]
