/** Ids of versions and uploads (engine/opaque-ids.ts). */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { test } from 'tap'
import { OpaqueIds } from '../../engine/opaque-ids.ts'

const sequences = fc.maxSafeNat()

test('ids of one and of many', async (t) => {
  const ids = new OpaqueIds(randomBytes(32))
  t.same(ids.encodeAll([]), [])
  fc.assert(
    fc.property(fc.array(sequences), (many) => {
      const encoded = ids.encodeAll(many)
      const one = many.map((sequence) => ids.encode(sequence))
      const back = encoded.map((id) => ids.decode(id))
      return isDeepStrictEqual(encoded, one) && isDeepStrictEqual(back, many)
    }),
  )
})

test('an id has 22 characters of base64url, and is another one under another key', async (t) => {
  const [ids, others] = [new OpaqueIds(randomBytes(32)), new OpaqueIds(randomBytes(32))]
  for (const sequence of [0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    t.match(ids.encode(sequence), /^[\w-]{22}$/)
    t.not(ids.encode(sequence), others.encode(sequence))
    t.equal(others.decode(ids.encode(sequence)), undefined)
  }
})

test('no id begins like an option of a command', async (t) => {
  const ids = new OpaqueIds(randomBytes(32))
  const many = ids.encodeAll(Array.from({ length: 2000 }, (_, sequence) => sequence))
  t.same(
    many.filter((id) => id.startsWith('-')),
    [],
  )
})

test('what was never given out is no id', async (t) => {
  const ids = new OpaqueIds(randomBytes(32))
  const id = ids.encode(7)
  // One of 22 characters has four bits that belong to no byte: 15 other texts decode to the same block.
  const first = id.startsWith('A') ? 'B' : 'A'
  const rest = id.slice(1)
  for (const text of [
    '',
    'null',
    rest,
    `${id}A`,
    `${first}${rest}`,
    `=${rest}`,
    `${id.slice(0, -1)}=`,
    `${rest}${id[0]}`,
  ]) {
    t.equal(ids.decode(text), undefined, text)
  }
  const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map((other) => other + rest)
  t.same(
    others.filter((text) => ids.decode(text) !== undefined),
    [id],
  )
})
