import { createHmac, hash, hkdfSync } from 'node:crypto'
import type { AccessRecord } from './entry-examiner.ts'
import type { SegmentResult } from './segment-result.ts'
import type { ProblemList } from './verdicts.ts'

const KEY_LABEL = 'object-store/access-changes/v1'
const CHECK_LABEL = 'object-store/master-key-check/v1'
const KEY_BYTES = 32
const NO_MAC = '0'.repeat(64)

/**
 * Checks who may do what when the master key is at hand.
 * @param options `masterKey`: 32 bytes; `fromSegment`: set when it is not the whole journal
 * @returns sentences about what was not checked
 */
export function accessNotes(
  results: readonly SegmentResult[],
  deploymentId: string | undefined,
  { masterKey, fromSegment }: { readonly masterKey?: Uint8Array; readonly fromSegment?: number },
  problems: ProblemList,
): string[] {
  const count = results.reduce((sum, { access }) => sum + access.length, 0)
  const unchecked = (why: string): string[] => (count === 0 ? [] : [`Access changes: ${count} not checked, ${why}.`])
  if (masterKey === undefined) return unchecked('no master key')
  if (fromSegment !== undefined) return unchecked('not the whole journal')
  const check = results.find(({ genesisMasterKeyCheck }) => genesisMasterKeyCheck !== undefined)?.genesisMasterKeyCheck
  if (deploymentId === undefined || check !== masterKeyCheck(masterKey, deploymentId)) {
    return unchecked('the master key is not that of this store')
  }
  const doubt = checkAccess(results, deploymentId, masterKey, problems)
  return doubt === undefined ? [] : [doubt]
}

/**
 * Checks who may do what, by spec/formats/journal.md, "Access".
 * @param masterKey 32 bytes, of this store
 * @returns a sentence about entries that nobody vouched for, if there are any
 */
function checkAccess(
  segments: readonly SegmentResult[],
  deploymentId: string,
  masterKey: Uint8Array,
  problems: ProblemList,
): string | undefined {
  const key = Buffer.from(hkdfSync('sha256', masterKey, KEY_LABEL, Buffer.from(deploymentId, 'hex'), KEY_BYTES))
  let previous = NO_MAC
  let strangers = 0
  let digest = NO_MAC
  for (const { name: segment, access } of segments) {
    for (const record of access) {
      const { sequence, offset, mac, adopts } = record
      const report = (detail: string): void =>
        problems.add({ segment, offset, sequence, verdict: 'access not authenticated', detail })
      if (mac === undefined) {
        if (previous !== NO_MAC) report('it changes who may do what without a code; earlier changes have one')
        strangers += 1
        digest = hash('sha256', Buffer.concat([bytesOf(digest), numbersOf(record), bytesOf(record.bodyDigest)]))
        continue
      }
      const covered = createHmac('sha256', key).update(bytesOf(previous)).update(numbersOf(record))
      if (covered.update(bytesOf(record.coveredDigest)).digest('hex') !== mac) {
        report('its code was not made here with the master key: it was changed or moved, or one before it left out')
      } else if ((adopts?.entries ?? 0) !== strangers || (adopts?.digest ?? NO_MAC) !== digest) {
        report('the changes before it are not those that were vouched for')
      }
      previous = mac
      strangers = 0
      digest = NO_MAC
    }
  }
  if (strangers === 0 || previous !== NO_MAC) return undefined
  return `${strangers} changes of access have no code and nobody has vouched for them (object-store access adopt).`
}

/** What the genesis of a store recognizes its master key by, in hexadecimal. */
function masterKeyCheck(masterKey: Uint8Array, deploymentId: string): string {
  const check = hkdfSync('sha256', masterKey, CHECK_LABEL, Buffer.from(deploymentId, 'hex'), KEY_BYTES)
  return Buffer.from(check).toString('hex')
}

function bytesOf(digits: string): Buffer {
  return Buffer.from(digits, 'hex')
}

function numbersOf({ sequence, time }: AccessRecord): Buffer {
  const numbers = Buffer.alloc(16)
  numbers.writeBigUInt64BE(BigInt(sequence), 0)
  numbers.writeBigUInt64BE(BigInt(time), 8)
  return numbers
}
