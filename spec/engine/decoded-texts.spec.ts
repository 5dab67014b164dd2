/**
 * Nothing of ours decodes MessagePack by the native part of msgpackr: it keeps a table for all threads and empties it while a
 * thread starts, so that what another thread decodes at that moment has other texts (spec/decisions/0003-journal-entries.md).
 */
import { createRequire } from 'node:module'
import { test } from 'tap'
import { write } from '../support/commands.ts'

const native = createRequire(import.meta.url)('msgpackr-extract') as {
  extractStrings: (...words: unknown[]) => unknown
}
const { extractStrings } = native
let calls = 0
native.extractStrings = (...words) => {
  calls += 1
  return extractStrings(...words)
}

// Only now: each takes what it finds when it is loaded.
const { decodeAuditPart, decodeEntry, encodeEntry } = await import('../../engine/events/entry-codec.ts')
const { unpackWrites, WritePacker, isSmallWrite } = await import('../../engine/client/packed-writes.ts')
const { decodeBody } = await import('../../engine/verify/bodies.ts')
const { packed } = await import('../../projections/tables/row-codecs.ts')
const { pairs } = await import('../../engine/events/schema/kinds.ts')
const msgpackr = await import('msgpackr')

/** Long enough for the native part: it takes no texts of short messages. */
const LONG = 'x'.repeat(100)

test('the native part would be asked', (t) => {
  t.equal(msgpackr.isNativeAccelerationEnabled, true)
  t.same(msgpackr.unpack(msgpackr.pack([LONG, LONG, LONG])), [LONG, LONG, LONG])
  t.ok(calls > 0)
  t.end()
})

test('entries, commands, rows and the bodies that a verifier reads are decoded without it', (t) => {
  calls = 0
  const command = write('photos', LONG, Buffer.from('bytes'))
  const body = Buffer.from(encodeEntry({ ...command.audit, resource: LONG }, 'success', undefined, []))
  t.equal(decodeEntry(body).resource, LONG)
  t.equal(decodeAuditPart(body).resource, LONG)
  t.ok(decodeBody(body)?.includes(LONG))
  const packer = new WritePacker()
  if (isSmallWrite(command)) packer.add(1, command)
  const keys: string[] = []
  unpackWrites(packer.take() ?? new Uint8Array(), (_, { key }) => keys.push(key))
  t.same(keys, [LONG])
  const { encode, decode } = packed(pairs)
  t.same(decode(encode([LONG, LONG])), [LONG, LONG])
  t.equal(calls, 0)
  t.end()
})
