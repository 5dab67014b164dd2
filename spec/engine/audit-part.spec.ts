/** The audit part of an entry, read without its changes. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { decodeAuditPart, decodeEntry, encodeEntry } from '../../engine/events/entry-codec.ts'
import { change, context, count, result } from '../support/arbitrary-entries.ts'

test('it is what the whole entry has, and the bytes stay as they are', async (t) => {
  const intent = fc.option(count, { nil: undefined })
  const changes = fc.array(change, { maxLength: 3 })
  fc.assert(
    fc.property(context, result, intent, changes, (audit, outcome, attempt, done) => {
      const body = Buffer.from(encodeEntry(audit, outcome, attempt, done))
      const before = Buffer.from(body)
      const { changes: _, ...expected } = decodeEntry(body)
      t.same(decodeAuditPart(body), expected)
      return body.equals(before)
    }),
    { numRuns: 300 },
  )
})

test('what is no entry is refused, and stays as it is', async (t) => {
  const entry = Buffer.from(
    encodeEntry(
      {
        principal: 'a',
        credentialId: undefined,
        sourceAddress: undefined,
        requestId: undefined,
        operation: 'o',
        resource: 'r',
        metadata: [],
      },
      'success',
      undefined,
      [{ name: 'server.stopped' }],
    ),
  )
  const unknownResult = Buffer.from(entry)
  unknownResult[1] = 9
  for (const body of [Buffer.from([0x90]), Buffer.from([0xc0]), entry.subarray(0, 5), unknownResult]) {
    const before = Buffer.from(body)
    t.throws(() => decodeAuditPart(body))
    t.ok(body.equals(before))
  }
})
