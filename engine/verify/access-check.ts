import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import type { AccessRecord, NewKey } from './entry-examiner.ts'
import type { SegmentResult } from './segment-result.ts'
import type { ProblemList } from './verdicts.ts'

const KEY_LABEL = 'object-store/access-changes/v1'
const CHECK_LABEL = 'object-store/master-key-check/v1'
const PREVIOUS_LABEL = 'object-store/previous-master-key/v1'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const NO_MAC = '0'.repeat(64)

/**
 * Checks changes of access when the master key is available.
 * @param options `masterKey`: 32 bytes; `fromSegment`: set when it is not the whole journal; `knownUntil`: the first sequence
 *   of a record that this verifier does not know
 * @returns sentences about what was not checked
 */
export function accessNotes(
  results: readonly SegmentResult[],
  deploymentId: string | undefined,
  {
    masterKey,
    fromSegment,
    knownUntil,
  }: { readonly masterKey?: Uint8Array; readonly fromSegment?: number; readonly knownUntil: number },
  problems: ProblemList,
): string[] {
  const count = results.reduce((sum, { access }) => sum + access.length, 0)
  const unchecked = (why: string): string[] => (count === 0 ? [] : [`Access changes: ${count} not checked, ${why}.`])
  if (masterKey === undefined) return unchecked('no master key')
  if (fromSegment !== undefined) return unchecked('not the whole journal')
  const check = results.find(({ genesisMasterKeyCheck }) => genesisMasterKeyCheck !== undefined)?.genesisMasterKeyCheck
  if (results.some(({ access }) => access.some(({ sequence }) => sequence >= knownUntil)))
    return unchecked('they come after records that only a newer version knows')
  const changes = results.flatMap(({ access }) =>
    access.flatMap(({ sequence, newKey }) => (newKey ? [{ sequence, newKey }] : [])),
  )
  const keys = check && deploymentId && keysOf(masterKey, deploymentId, check, changes)
  if (!keys) return unchecked('the master key is not that of this store')
  const doubt = checkAccess(results, keys, problems)
  return doubt === undefined ? [] : [doubt]
}

/** Where the journal changes the master key. */
interface KeyChange {
  readonly sequence: number
  readonly newKey: NewKey
}

/** The key for the codes of entries up to `last`. */
interface CodeKey {
  readonly key: Buffer
  readonly last: number
}

/**
 * The keys of the codes, the earliest first: each master key opens the one before (spec/formats/journal.md, "The master
 * key"). Undefined for a key that the store never had. The last key covers no entry after the change to it.
 */
function keysOf(
  masterKey: Uint8Array,
  deploymentId: string,
  firstCheck: string,
  changes: readonly KeyChange[],
): readonly CodeKey[] | undefined {
  const check = masterKeyCheck(masterKey, deploymentId)
  const given = changes.findLastIndex(({ newKey }) => newKey.check === check)
  if (given < 0 && check !== firstCheck) return undefined
  const codeKey = (key: Uint8Array, at: number): CodeKey => {
    return { key: derived(key, KEY_LABEL, deploymentId), last: changes[at]?.sequence ?? Number.MAX_SAFE_INTEGER }
  }
  const keys = [codeKey(masterKey, given + 1)]
  let current: Uint8Array | undefined = masterKey
  for (let at = given; at >= 0; at -= 1) {
    current = openedPrevious((changes[at] as KeyChange).newKey, current, deploymentId)
    // Its entries are reported one by one: no code fits.
    if (current === undefined) break
    keys.unshift(codeKey(current, at))
  }
  return keys
}

/** The master key before; undefined when it was not sealed with this one, for this place. */
function openedPrevious(
  { sealedPrevious, after }: NewKey,
  masterKey: Uint8Array,
  deploymentId: string,
): Buffer | undefined {
  const sealed = bytesOf(sealedPrevious)
  try {
    const key = derived(masterKey, PREVIOUS_LABEL, deploymentId)
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(after))
      .setAuthTag(sealed.subarray(-TAG_BYTES))
    const digits =
      decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'latin1') + decipher.final('latin1')
    return bytesOf(digits)
  } catch {
    return undefined
  }
}

function derived(masterKey: Uint8Array, label: string, deploymentId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, label, bytesOf(deploymentId), KEY_BYTES))
}

/**
 * Checks changes of access, by spec/formats/journal.md, "Access".
 * @returns a sentence about entries that an earlier master key cannot check, if there are any
 */
function checkAccess(
  segments: readonly SegmentResult[],
  keys: readonly CodeKey[],
  problems: ProblemList,
): string | undefined {
  let unchecked = 0
  let previous = NO_MAC
  for (const { name: segment, access } of segments) {
    for (const record of access) {
      const { sequence, offset, mac, newKey } = record
      const report = (detail: string): void =>
        problems.add({ segment, offset, sequence, verdict: 'access not authenticated', detail })
      const key = keys.find(({ last }) => sequence <= last)?.key
      if (key === undefined) {
        unchecked += 1
        continue
      }
      if (mac === undefined) {
        report('it changes who may do what without a code')
        continue
      }
      const covered = createHmac('sha256', key).update(bytesOf(previous)).update(numbersOf(record))
      if (covered.update(bytesOf(record.coveredDigest)).digest('hex') !== mac) {
        report('its code was not made here with the master key: it was changed or moved, or one before it left out')
      } else if (newKey !== undefined && newKey.after !== previous) {
        report('it changes the master key and follows others than when it was written')
      }
      previous = mac
    }
  }
  if (unchecked === 0) return undefined
  return `Access changes: ${unchecked} not checked, the master key is an earlier one of this store.`
}

/** The check by which the journal recognizes a master key, in hexadecimal. */
function masterKeyCheck(masterKey: Uint8Array, deploymentId: string): string {
  return derived(masterKey, CHECK_LABEL, deploymentId).toString('hex')
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
