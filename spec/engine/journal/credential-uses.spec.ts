/** The uses of credentials that projections keep, against a fold over all records. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { type Microseconds, microsecondsOf } from '../../../engine/brands.ts'
import type { AuditContext } from '../../../engine/events/audit.ts'
import { encodeEntry } from '../../../engine/events/entry-codec.ts'
import { CredentialUses, isSameMinute } from '../../../engine/journal/credential-uses.ts'

const SECOND = 1_000_000
/** The last four bytes choose the place, which three share and two find room in; one is the start of another. */
const IDS = ['cred-a-1234', 'cred-b-1234', 'tok-1234', 'root', `cred-${'x'.repeat(250 - 5)}`, 'cred', 'é-a']

interface Recorded {
  readonly credentialId: string | undefined
  readonly time: Microseconds
  /** What the gatherer lives through before this record. */
  readonly before: 'nothing' | 'a batch ends' | 'a start'
}

function bodyOf({ credentialId }: Recorded, principal: string): Uint8Array {
  const rest = { sourceAddress: undefined, requestId: 'r', operation: 's3:GET', resource: 'bucket:b', metadata: [] }
  const context: AuditContext = { principal, credentialId, ...rest }
  return Uint8Array.from(encodeEntry(context, 'success', undefined, []))
}

/** What rows make of uses. */
function keep(rows: Map<string, Microseconds>, credentialId: string, time: Microseconds): void {
  const before = rows.get(credentialId)
  if (before === undefined || !isSameMinute(before, time)) rows.set(credentialId, time)
}

const records = fc.array(
  fc.record({
    credentialId: fc.constantFrom(undefined, ...IDS),
    // Back as well, as the host's clock may go.
    time: fc.nat(300).map((seconds) => microsecondsOf(seconds * SECOND)),
    before: fc.constantFrom('nothing', 'nothing', 'a batch ends', 'a start'),
  } as const),
  { maxLength: 60 },
)

test('the rows are the same however the records are cut into batches, starts and replays', async (t) => {
  fc.assert(
    fc.property(records, fc.constantFrom('system:root', `service_account:sa-${'a'.repeat(20)}`), (all, principal) => {
      const [expected, rows] = [new Map<string, Microseconds>(), new Map<string, Microseconds>()]
      let uses = new CredentialUses()
      const end = () => {
        for (const use of uses.take()) keep(rows, use.credentialId, use.timeMicroseconds)
      }
      for (const each of all) {
        if (each.before !== 'nothing') end()
        if (each.before === 'a start') uses = new CredentialUses()
        uses.add(bodyOf(each, principal), each.time)
        if (each.credentialId !== undefined) keep(expected, each.credentialId, each.time)
      }
      end()
      t.same(rows, expected)
    }),
  )
})

test('a credential is reported once a minute, and again when records were taken back', async (t) => {
  const uses = new CredentialUses()
  const add = (seconds: number) => {
    const record: Recorded = { credentialId: 'cred-a', time: microsecondsOf(seconds * SECOND), before: 'nothing' }
    uses.add(bodyOf(record, 'system:root'), record.time)
  }
  for (let second = 0; second < 180; second += 1) add(second)
  t.same(
    uses.take().map(({ timeMicroseconds }) => timeMicroseconds / SECOND),
    [0, 60, 120],
  )
  add(179)
  uses.forget()
  t.same(uses.take(), [], 'of records that were taken back')
  add(179)
  t.equal(uses.take().length, 1)
})

test('what is no entry has no credential', async (t) => {
  const uses = new CredentialUses()
  for (const body of [
    [],
    [0x99],
    [0x99, 0],
    [0x99, 0, 0xa1],
    [0x99, 0, 0xd9],
    [0x9a, 1, 0xa0, 0xbf],
    [0x81, 0, 0xa0],
  ]) {
    uses.add(Uint8Array.from(body), microsecondsOf(1))
  }
  t.same(uses.take(), [])
})
