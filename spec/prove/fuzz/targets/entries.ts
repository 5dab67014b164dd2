/** The bodies of journal records: three readers that must agree, and what is read must be written the same again. */
import * as fc from 'fast-check'
import {
  decodeAuditPart,
  decodeChanges,
  decodeEntry,
  encodeEntry,
  type Entry,
} from '../../../../engine/events/entry-codec.ts'
import { change, context, result } from '../../../support/journals/arbitrary-entries.ts'
import { accepted, type FuzzTarget, mustBeSame, refused, type Verdict } from '../target.ts'

/** Entries of every kind, the same at each start. */
const SEEDS = fc
  .sample(fc.tuple(context, result, fc.option(fc.nat(), { nil: undefined }), fc.array(change, { maxLength: 3 })), {
    seed: 7,
    numRuns: 80,
  })
  .map(([audit, outcome, intent, changes]) => Buffer.from(encodeEntry(audit, outcome, intent, changes)))

function judge(input: Buffer): Verdict {
  let entry: Entry
  try {
    entry = decodeEntry(Buffer.from(input))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return refused(error.message.replaceAll(/\d+/g, '#').slice(0, 40))
  }
  const again = spelled(entry)
  // Another spelling of MessagePack: nothing is promised of it.
  if (again === undefined || !again.equals(input)) return refused('another spelling')
  const { changes, ...audit } = entry
  mustBeSame(decodeAuditPart(Buffer.from(input)), audit, 'the audit part alone')
  if (changes.length > 0) mustBeSame(decodeChanges(Buffer.from(input)), changes, 'the changes alone')
  return accepted(changes.map(({ name }) => name).join())
}

function spelled(entry: Entry): Buffer | undefined {
  try {
    return Buffer.from(encodeEntry(entry, entry.result, entry.intent, entry.changes))
  } catch {
    return undefined
  }
}

/** First bytes of MessagePack values, and lengths that are not there. */
const TYPES = '90 99 9a c0 c1 c2 c3 c4ff c7ff cb cf d3 d6 d9ff dc000a ddffffffff dfffffffff dbffffffff'.split(' ')

export const ENTRY_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'journal-entry',
    seeds: SEEDS,
    words: [...TYPES.map((hex) => Buffer.from(hex, 'hex')), '__proto__', 'success'],
    bytesMaximum: 32 * 1024,
    judge,
  },
]
