/** Holds bytes against a byte table of a format page. */
import { crc32 } from 'node:zlib'
import type { Test } from 'tap'
import type { ByteField } from '../pages/markdown-tables.ts'

/** Big-endian. */
export const numberOf = (bytes: Buffer): number => bytes.reduce((total, byte) => total * 256 + byte, 0)
export const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0)

/** What a field must hold; `checksum` is the CRC-32 of all bytes before it. */
export type Expected = number | string | Buffer | 'zero' | 'checksum'

/** Asserts that a page's byte table covers a structure without a gap and that the bytes are what its rows say. */
export function assertBytes(
  t: Test,
  bytes: Buffer,
  fields: readonly ByteField[],
  expected: Record<string, Expected>,
): void {
  t.equal(
    fields.reduce((end, { offset, size }) => (offset === end ? offset + size : Number.NaN), 0),
    bytes.length,
    'the rows follow one another and cover every byte',
  )
  for (const { offset, size, name } of fields) {
    const key = Object.keys(expected).find((start) => name.startsWith(start))
    if (key === undefined) {
      t.fail(`the page names a field the code does not: ${name}`)
      continue
    }
    const stored = bytes.subarray(offset, offset + size)
    const value = expected[key]
    if (value === 'zero') t.ok(isZero(stored), `${name} at ${offset}`)
    else if (value === 'checksum') t.equal(numberOf(stored), crc32(bytes.subarray(0, offset)), `${name} at ${offset}`)
    else if (typeof value === 'number') t.equal(numberOf(stored), value, `${name} at ${offset}`)
    else t.same(stored, Buffer.from(value as string), `${name} at ${offset}`)
  }
  const named = Object.keys(expected).filter((start) => fields.some(({ name }) => name.startsWith(start)))
  t.same(named, Object.keys(expected), 'and the page names every field of the code')
}
